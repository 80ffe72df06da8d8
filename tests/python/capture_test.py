# SPDX-License-Identifier: Apache-2.0
"""Launches of tuned kernels that are captured with their data, on the cpu backend."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

import numpy

import tuner
from tuner import _program

HISTOGRAM = """
__global__ void histogram(int n, float weight, const int* keys, float* sums) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (SKIP && keys[i] == 9) continue;
    atomicAdd(&sums[keys[i]], weight);
  }
}
"""


def histogram(weight, keys, sums):
    return sums + weight * numpy.bincount(keys, minlength=16).astype("f4")


class CaptureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.k = tuner.tune(HISTOGRAM, args=lambda N, rng: {"n": N, "weight": 1.0, "keys": rng.integers(0, 16, N), "sums": rng.normal(16)},
                           parameters={"BLOCK": [32, 64], "SKIP": [0]}, grid=2, block="BLOCK", sizes=[500], check_sizes=[1, 37],
                           reference=histogram, deterministic=False, tolerance=1e-4, backend="cpu", effort="quick",
                           database=cls.folder / "results.db", folder=cls.folder / "spaces")
        cls.keys = (numpy.arange(1000, dtype="i4") ** 2 % 16).astype("i4")

    def launch(self, weight):
        sums = numpy.full(16, 0.5, "f4")
        self.k(1000, weight, self.keys, sums)
        return sums

    def tuned(self, space, *arguments):
        done = subprocess.run([_program.path(), "--db", self.folder / "captured.db", "--space", space, "--backend", "cpu", "--json",
                               "--progress", "json", *arguments], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stderr.splitlines() if line.startswith('{"event":"trial"')]

    def test_a_launch_becomes_a_folder_that_is_tuned(self):
        with tuner.capture("histogram", self.folder / "data") as captured:
            sums = self.launch(0.25)
            self.launch(7)  # one is captured
        self.assertEqual(captured.space, self.folder / "data/space.json")
        for path in (self.folder / "data").rglob("*"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)
        numpy.testing.assert_array_equal(numpy.load(self.folder / "data/keys.npy"), self.keys)
        numpy.testing.assert_array_equal(numpy.load(self.folder / "data/sums.npy"), numpy.full(16, 0.5, "f4"))
        numpy.testing.assert_array_equal(numpy.load(self.folder / "data/sums_after.npy"), sums)
        self.assertEqual({trial["outcome"] for trial in self.tuned(captured.space)}, {"ok"})
        # What is tuned on the captured data serves the application.
        with tuner.Dispatcher(tuner.Table.database(self.folder / "captured.db"), backend="cpu") as dispatcher:
            self.assertEqual(dispatcher.answer(self.k.family, 1000).rung, "exact")
            again = numpy.full(16, 0.5, "f4")
            dispatcher.launch(self.k.family, 1000, 0.25, self.keys, again)
            numpy.testing.assert_array_equal(again, sums)
        document = json.loads(captured.space.read_text())
        self.assertEqual([entry.get("value") for entry in document["arguments"]], ["N", 0.25, None, None])
        # A configuration that is wrong on these keys is found on them.
        document["kernels"]["histogram"]["parameters"]["SKIP"]["values"] = [0, 1]
        captured.space.write_text(json.dumps(document))
        outcomes = {(trial["config"]["SKIP"], trial["outcome"]) for trial in self.tuned(captured.space)}
        self.assertEqual(outcomes, {(0, "ok"), (1, "wrong_result")})

    def test_the_environment_asks_for_a_launch(self):
        program = f"import numpy, tuner; d = tuner.Dispatcher(tuner.Table.database({str(self.folder / 'results.db')!r}), backend='cpu')\n" \
                  f"d.launch({self.k.family!r}, 3, 1.5, numpy.array([1, 1, 2], 'i4'), numpy.zeros(16, 'f4'))\n" * 2
        environment = {**os.environ, "TUNER_CAPTURE": "histogram", "TUNER_CAPTURE_FOLDER": str(self.folder / "asked")}
        run = [sys.executable, "-c", program]
        done = subprocess.run(run, env=environment, text=True, capture_output=True, check=True)
        self.assertIn(f"tuner: TUNER_CAPTURE=histogram: captured: tune --space {self.folder}/asked/space.json", done.stderr)
        self.assertEqual(numpy.load(self.folder / "asked/sums_after.npy")[:4].tolist(), [0, 3, 1.5, 0])
        again = subprocess.run(run, env=environment, text=True, capture_output=True, check=True)  # the program goes on
        self.assertIn("not captured: " + str(self.folder / "asked") + ": exists already", again.stderr)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(tuner.Error, "no kernel or family 'other' was launched in the block"):
            with tuner.capture("other", self.folder / "other"):
                self.launch(1)
        with self.assertRaisesRegex(FileExistsError, "exists already: name another folder"):
            with tuner.capture("histogram", self.folder):
                self.launch(1)
        with self.assertRaisesRegex(tuner.Error, "its buffers have 1 MiB, captured are 0 MiB at most"):
            with tuner.capture("histogram", self.folder / "large", limit_bytes=100):
                self.launch(1)
        self.assertFalse((self.folder / "large").exists())


if __name__ == "__main__":
    unittest.main()
