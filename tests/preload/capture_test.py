# SPDX-License-Identifier: Apache-2.0
"""`tune capture` of a program on a driver that runs its kernels on the host."""

import json
import os
import pathlib
import stat
import struct
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TUNE, PROGRAM = os.environ["TUNE"], os.environ["CAPTURE_PROGRAM"]


def elements(path, kind):
    """Of a .npy file."""
    content = path.read_bytes()
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return [number for number, in struct.iter_unpack("<" + kind, content[begin:])]


class CaptureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tune(self, *arguments, code=0):
        environment = {**os.environ, "TUNER_DB": str(self.folder / "tune.db"), "XDG_CACHE_HOME": str(self.folder)}
        done = subprocess.run([TUNE, *arguments], cwd=self.folder, env=environment, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def tuned(self, kernel, threads):
        """Outcomes of configurations by the captured data."""
        done = self.run_tune("--space", f"captured_{kernel}/space.json", "--set", f"THREADS={threads}", "--backend", "cpu", "--effort", "quick",
                             "--json", "--progress", "json")
        trials = [json.loads(line) for line in done.stderr.splitlines() if line.startswith('{"event":"trial"')]
        [size] = json.loads(done.stdout)["kernels"][0]["sizes"]
        self.assertTrue(size["best"]["confirmed"])
        return [(trial["config"], trial["outcome"]) for trial in trials]

    def test_a_histogram_that_nvrtc_compiled(self):
        done = self.run_tune("capture", "--kernel", "histogram", "--", PROGRAM)
        self.assertEqual(done.stdout, "500\n")  # of both launches: the program's own
        self.assertIn("histogram was captured: tune --space captured_histogram/space.json", done.stderr)
        folder = self.folder / "captured_histogram"
        self.assertEqual(elements(folder / "keys.npy", "i"), [i * i % 16 for i in range(1000)])
        self.assertEqual((elements(folder / "counts.npy", "I")[1], elements(folder / "counts_after.npy", "I")[1]), (0, 250))
        for path in [folder, *folder.rglob("*")]:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700 if path.is_dir() else 0o600, path)
        outcomes = self.tuned("histogram", "96,128")
        # In grid strides: any geometry is right. What another STEP adds is not.
        self.assertEqual({(config["STEP"] == 1, outcome) for config, outcome in outcomes}, {(True, "ok"), (False, "wrong_result")})
        self.assertLess({(96, "threads"), (128, "blocks")}, {(config["THREADS"], config["GRID"]) for config, _ in outcomes})

    def test_a_sparse_product_whose_source_is_named(self):
        refused = self.run_tune("capture", "--kernel", "spmv", "--", PROGRAM, "spmv", code=2)
        self.assertIn("was not compiled in the program by NVRTC: name it with --source FILE", refused.stderr)
        self.run_tune("capture", "--kernel", "spmv", "--source", str(HERE / "spmv.cu"), "--", PROGRAM, "spmv")
        kernel = json.loads((self.folder / "captured_spmv/space.json").read_text())["kernels"]["spmv"]
        self.assertEqual(kernel["entry"], "sparse::spmv<${ROWS},float>")
        self.assertEqual(kernel["parameters"]["ROWS"]["default"], 2)
        # A block more or less leaves out rows unless there are as many threads in all, of which ROWS=2 needs half.
        wrong = [config for config, outcome in self.tuned("spmv", "32,64") if outcome != "ok"]
        self.assertTrue(all(config["GRID"] == "blocks" or config["ROWS"] == 1 for config in wrong), wrong)
        self.assertTrue(any(config["GRID"] == "blocks" for config in wrong))

    def test_what_cannot_be_captured(self):
        none = self.run_tune("capture", "--kernel", "sort", "--", PROGRAM, code=5)
        self.assertIn("sort: no kernel of this name was launched", none.stderr)
        self.assertIn("\n  histogram\n", none.stderr)
        self.run_tune("capture", "--kernel", "histogram", "--launch", "3", "--", PROGRAM, code=5)
        other = self.folder / "other.cu"
        other.write_text("__global__ void histogram(const int* keys, double n, unsigned* counts) {}\n")
        refused = self.run_tune("capture", "--kernel", "histogram", "--source", str(other), "--", PROGRAM, code=2)
        self.assertIn("has parameters of (4, 8, 8) bytes, those in other.cu have (8, 8, 8)", refused.stderr)
        self.assertFalse((self.folder / "captured_histogram").exists())


if __name__ == "__main__":
    unittest.main()
