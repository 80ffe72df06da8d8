# SPDX-License-Identifier: Apache-2.0
"""Files of other tuners: T1 in and out, cache and T4 files out."""

import json
import unittest

from program import GEMM, ROOT, SHORT_RUN, ProgramTest

DATA = ROOT / "tests" / "data" / "interop"


class T1Test(ProgramTest):
    def test_a_t1_file_becomes_a_space_that_counts(self):
        for name, valid in (("t1_convolution", 4362), ("t1_dedispersion", 11130),
                            ("t1_gemm", 116928), ("t1_hotspot", 82984)):
            with self.subTest(name=name):
                self.tune("space", "import", DATA / f"{name}.json", "-o", "spaces/x.json")
                (kernel,) = self.tune_json("space", "count", "spaces/x.json")["kernels"]
                self.assertEqual(kernel["valid"], valid)

    def test_notes_go_to_stderr_and_the_file_to_stdout(self):
        done = self.tune("space", "import", DATA / "t1_hotspot.json")
        self.assertEqual(json.loads(done.stdout)["format"], "space/1")
        self.assertIn('"name": "Rx_1",\n      "type": "float",\n      "value": 0.1', done.stdout)
        self.assertIn("note: T1's reference data is ignored", done.stderr)
        self.assertEqual(self.tune("-q", "space", "import", DATA / "t1_hotspot.json").stderr, "")

    def test_the_kernel_is_found_from_where_the_space_is_written(self):
        t1 = self.text_file("t1.json", (ROOT / "examples/interchange/scale.t1.json").read_text())
        (self.directory / "scale.cu").write_text((ROOT / "examples/interchange/scale.cu").read_text())
        self.tune("-q", "space", "import", t1, "-o", "deep/er/scale.json")
        self.assertIn("scale: 2 parameters, 1 constraint, 15 valid",
                      self.tune("space", "check", "deep/er/scale.json").stdout)

    def test_a_bad_file_says_where(self):
        path = self.text_file("bad.json", json.dumps({"ConfigurationSpace": {"TuningParameters": [
            {"Name": "A", "Values": "[1, __import__('os')]"}]}}))
        self.refuse("space", "import", path, code=2, says=["bad.json: TuningParameters[0] (A)", "__import__"])
        self.refuse("space", "import", GEMM, code=2, says="is not a T1 file")

    def test_a_kernel_of_ours_as_t1(self):
        self.refuse("space", "export", GEMM, code=2, says="--kernel")
        self.tune("space", "export", GEMM, "--kernel", "gemm_shared", "-o", "t1.json")
        count = self.tune_json("space", "count", GEMM, "--kernel", "gemm_shared")["kernels"][0]["valid"]
        self.tune("-q", "space", "import", "t1.json", "-o", "back.json")
        self.assertEqual(self.tune_json("space", "count", "back.json")["kernels"][0]["valid"], count)


class RecordingTest(ProgramTest):
    def test_what_was_measured_as_a_cache_and_as_t4(self):
        self.fill(*SHORT_RUN)
        cache = json.loads(self.tune("export", "--format", "cache").stdout)
        self.assertEqual((cache["kernel_name"], cache["problem_size"]), ("gemm_naive", [16, 16, 16]))
        self.assertEqual(cache["tune_params_keys"], ["BLOCK_X", "BLOCK_Y"])
        (entry,) = cache["cache"].values()
        self.assertGreater(entry["time"], 0)
        t4 = json.loads(self.tune("export", "--format", "t4", "--size", "16x16x16").stdout)
        self.assertEqual(t4["results"][0]["measurements"][0]["value"], entry["time"])

    def test_a_file_of_another_tool_is_translated(self):
        self.tune("export", "--format", "cache", "--from", DATA / "ktt.json", "-o", "cache.json")
        cache = json.loads((self.directory / "cache.json").read_text())
        self.assertEqual(list(cache["cache"]), ["128,0.5,True", "64,2.0,False", "2048,0.5,True", "128,2.0,True"])
        self.assertFalse(self.database.exists())

    def test_there_must_be_one(self):
        self.fill(*SHORT_RUN)
        self.tune("-q", *SHORT_RUN, "--size", "32,32,32")
        self.refuse("export", "--format", "t4", code=2, says=["--size 16,16,16", "--size 32,32,32"])
        self.refuse("export", "--format", "t4", "--kernel", "none", code=5, says="no trials")

    def test_options_that_do_not_fit(self):
        self.refuse("export", "--format", "t5", code=2, says="did you mean 't4'?")
        self.refuse("export", "--name", "k", code=2, says="--name has no effect with --format bests; use it with --format header")
        self.refuse("export", "--format", "t4", "--from", "x.json", "--size", "1", code=2, says="leave out")
        self.refuse("export", "--format", "t4", "--from", GEMM, code=2, says="no measured configurations")


if __name__ == "__main__":
    unittest.main()
