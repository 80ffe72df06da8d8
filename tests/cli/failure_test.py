# SPDX-License-Identifier: Apache-2.0
"""Kernels that fail: candidates are recorded with their reason, the run ends with its exit code."""

import unittest

from program import SCALE_SOURCES, ProgramTest

BROKEN = "template <int BLOCK> __global__ void scale(int N, const float* x, float* y) { nonsense; }\n"
HALF_RIGHT = SCALE_SOURCES["scale.cu"].replace("2 * x[i]", "(BLOCK == 32 ? 3 : 2) * x[i]")


class FailureTest(ProgramTest):
    def run_scale(self, *arguments, **options):
        return self.tune("--kernel", "scale", "--backend", "cpu", *arguments, **options)

    def test_a_kernel_that_does_not_compile(self):
        path = self.space_file(sources={"scale.cu": BROKEN})
        done = self.run_scale("--space", path, code=4)
        self.assertIn("2 compile_error", done.stdout)
        self.assertIn("error: no configuration ended ok", done.stderr)
        self.assertNotIn("tune query", done.stderr)  # it would find nothing
        self.assertEqual(self.rows("SELECT DISTINCT outcome FROM result"), [("compile_error",)])
        shown = self.tune("runs", "show").stdout
        self.assertIn("2 compile_error, the first at {\"BLOCK\":32}", shown)
        self.assertRegex(shown, "nonsense.* was not declared")
        self.assertEqual(self.tune_json("runs", "show")["failures"][0]["count"], 2)
        again = self.run_scale("--space", path, "-q", code=4)
        self.assertTrue(again.stderr.startswith("error: "), again.stderr)
        dry = self.run_scale("--space", path, "--dry-run", code=1)
        self.assertRegex(dry.stderr, "^error: scale: the default configuration does not compile:\n(.*\n)*.*nonsense")

    def test_a_wrong_candidate_costs_itself_alone(self):
        done = self.run_scale("--space", self.space_file(sources={"scale.cu": HALF_RIGHT}))
        self.assertIn("BLOCK=64", done.stdout)
        self.assertIn("failed: 1 wrong_result", done.stderr)
        self.assertIn("1 wrong_result, the first at {\"BLOCK\":32}", self.tune("runs", "show").stdout)

    def test_a_reference_that_does_not_compile(self):
        path = self.space_file(sources={"plain.cu": "__global__ void plain() { nonsense; }\n"})
        done = self.tune("-q", "--kernel", "scale", "--backend", "cpu", "--space", path, code=1)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        self.assertIn("plain", done.stderr)
        self.assertIn("nonsense", done.stderr)

    def test_no_host_compiler(self):
        self.refuse("--kernel", "scale", "--backend", "cpu", "--space", self.space_file(), code=3,
                    says="TUNER_HOST_CXX", env={"TUNER_HOST_CXX": "/none/c++"})


if __name__ == "__main__":
    unittest.main()
