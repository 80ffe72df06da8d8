# SPDX-License-Identifier: Apache-2.0
"""tune --sizes FILE alone: the families of a recording, within one time, and what they save."""

import json
import unittest

from program import GEMM, ProgramTest


def product(kind, m, ns):
    return {"function": "f", "type": kind, "m": m, "n": 16, "k": 16, "batch": 1, "trans_a": False, "trans_b": False,
            "lda": 16, "ldb": 16, "ldc": 16, "align": 4, "epilogue": 1, "bias": 0, "activation": 0, "objection": "",
            "count": 10, "captured": 0, "timed": 1, "timed_ns": ns}


class RecordedSizesTest(ProgramTest):
    def recording(self, sizes, products):
        groups = [{"name": f"recorded_{family}", "family": family, "sizes": listed} for family, listed in sizes.items()]
        return self.text_file("sizes.json", json.dumps({
            "format": "suite/1", "family": "gemm", "groups": groups,
            "recorded": {"format": "calls/1", "device": "cpu", "products": products}}))

    def test_families_are_found(self):
        file = self.recording({"copy": [[16, 16]], "transpose": [[16, 16]]}, [])
        dry = self.tune("--sizes", file, "--backend", "cpu", "--dry-run").stdout
        for kernel in ("copy", "transpose"):
            self.assertRegex(dry, rf"(?m)^{kernel}\w*: the default configuration compiles")
        tuned = self.tune_json("--sizes", file, "--backend", "cpu", "--max-evals", "1", "--progress", "json")
        self.assertTrue({"copy", "transpose"} <= {kernel["kernel"].split("_")[0] for kernel in tuned["kernels"]})
        self.assertNotIn("gain", tuned)

    def test_the_gain_is_said(self):
        file = self.recording({"gemm": [[8, 16, 16], [24, 16, 16]]},
                              [product("f32", 8, 1e5), product("f32", 24, 8e5), product("e5m2", 16, 1e5)])
        run = ("--space", GEMM, "--kernel", "gemm_naive", "--sizes", file, "--backend", "cpu", "--max-evals", "1")
        self.assertRegex(self.tune(*run).stdout.splitlines()[-1],
                         r"^2 products, 90 % of the recorded time: expected saving \d+\.\d % of it")
        gain = self.tune_json(*run)["gain"]
        self.assertEqual((gain["products"], gain["recorded_ns"], gain["products_ns"]), (2, 1e7, 9e6))

    def test_what_takes_most_of_the_time_comes_first(self):
        file = self.recording({"gemm": [[8, 16, 16], [24, 16, 16]]}, [product("f32", 8, 1e5), product("f32", 24, 8e5)])
        run = self.tune("--space", GEMM, "--kernel", "gemm_naive", "--sizes", file, "--backend", "cpu", "--max-evals", "1",
                        "--progress", "json")
        events = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
        trials = [event["size"] for event in events if event["event"] == "trial"]
        self.assertEqual(trials, ["24,16,16", "8,16,16"])

    def test_what_it_needs(self):
        self.refuse(code=2, says="tune --sizes sizes.json")
        self.refuse("--sizes", "smoke", code=2, says="name a space file")
        file = self.recording({"gemm": [[8, 16, 16]]}, [])
        self.refuse("--sizes", file, "--kernel", "gemm_naive", code=2, says="name a space file")
        self.refuse("--sizes", f"{file}:recorded_gem", code=2, says="did you mean")
        other = self.text_file("other.json", json.dumps(
            {"format": "suite/1", "family": "swish", "groups": [{"name": "all", "sizes": [[8]]}]}))
        self.refuse("--sizes", other, code=2, says="no space file spaces/swish.json is installed")
        self.refuse("--sizes", "none.json", code=2, says="none.json")


if __name__ == "__main__":
    unittest.main()
