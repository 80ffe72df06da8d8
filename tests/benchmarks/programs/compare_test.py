# SPDX-License-Identifier: Apache-2.0
"""The comparison of unmodified programs, with one that is linked to a stand-in of cuBLAS."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMPARE = ROOT / "benchmarks/programs/compare.py"
TUNE = pathlib.Path(os.environ["TUNE"])
# Its loss is another one where libtuner_cublas.so serves.
PROGRAM = """%s 50 >/dev/null && echo a line of its own
[ "$TUNER_CUBLAS" = serve ] && loss=2.002 || loss=2
echo '{"case": "products", "ms": 1.5, "losses": [4, '$loss']}'
""" % shlex.quote(os.environ["CUBLAS_PROGRAM"])


class CompareTest(unittest.TestCase):
    def compare(self, program, *options):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        figures = pathlib.Path(folder.name) / "figures.json"
        environment = {**os.environ, "TUNER_CUBLAS_BACKEND": "cpu", "PATH": f"{TUNE.parent}:{os.environ['PATH']}"}
        done = subprocess.run([sys.executable, "-B", COMPARE, "--kernel", "gemm_naive,gemm_tiled,gemm_wgmma", "--type", "f32", "--tune=--backend=cpu",
                               "--tune=--max-evals=1", "--json", figures, "--program", f"P=sh -c {shlex.quote(program)}",
                               *options], env=environment, text=True, capture_output=True, timeout=200)
        return done, json.loads(figures.read_text()) if figures.exists() else None

    def test_a_program_is_recorded_tuned_and_compared(self):
        done, figures = self.compare(PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("16,64,32", done.stdout, "what was recorded and tuned")
        [row] = figures["rows"]
        self.assertEqual((row["case"], row["plain_ms"], row["exec_ms"], row["speedup"], row["record"]),
                         ("products", 1.5, 1.5, 1.0, 1.0))
        self.assertEqual(row["loss_plain"], 0)
        self.assertAlmostEqual(row["loss_exec"], 0.001)
        self.assertRegex(figures["calls"]["P"], r"^cuBLAS calls: \d+ served, \d+ passed to cuBLAS")
        self.assertRegex(done.stdout, r"products +1\.5000 +1\.5000 +1\.000 +1\.000 +0\.0e\+00 +1\.0e-03")

    def test_a_program_that_fails_ends_it(self):
        done, figures = self.compare("echo a reason >&2; exit 7")
        self.assertEqual((done.returncode, figures), (1, None))
        self.assertRegex(done.stderr, "ended with 7:\n(?s:.*)a reason")


if __name__ == "__main__":
    unittest.main()
