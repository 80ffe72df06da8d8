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
        self.assertRegex(done.stderr, r"the first one: compile_error: scale\.cu:1:\d+: error: .*nonsense.*\n  `tune runs show` lists why")
        self.assertNotIn("tune query", done.stderr)  # it would find nothing
        self.assertEqual(self.rows("SELECT DISTINCT outcome FROM result"), [("compile_error",)])
        shown = self.tune("runs", "show").stdout
        self.assertIn("2 compile_error, the first at {\"BLOCK\":32}", shown)
        self.assertRegex(shown, "nonsense.* was not declared")
        self.assertEqual(self.tune_json("runs", "show")["failures"][0]["count"], 2)
        verbose = self.run_scale("--space", path, "--fresh", "-v", code=4).stderr
        self.assertRegex(verbose, r'{"BLOCK":32}: compile_error: scale\.cu:1:\d+: error: .*nonsense')
        again = self.run_scale("--space", path, "-q", code=4)
        self.assertTrue(again.stderr.startswith("error: "), again.stderr)
        named = self.run_scale("--space", path, "--db", "my runs.db", code=4)
        self.assertIn("`tune runs show --db 'my runs.db'` lists why", named.stderr)
        dry = self.run_scale("--space", path, "--dry-run", code=1)
        self.assertRegex(dry.stderr, "^error: scale: the default configuration does not compile:\n(.*\n)*.*nonsense")

    def test_a_wrong_candidate_costs_itself_alone(self):
        done = self.run_scale("--space", self.space_file(sources={"scale.cu": HALF_RIGHT}))
        self.assertIn("BLOCK=64", done.stdout)
        self.assertIn("failed: 1 wrong_result", done.stderr)
        self.assertIn("1 wrong_result, the first at {\"BLOCK\":32}", self.tune("runs", "show").stdout)

    def test_a_failed_assertion_is_shown(self):
        source = SCALE_SOURCES["scale.cu"].replace("y[i] = 2", "{ assert(BLOCK == 64); y[i] = 2").replace("x[i];", "x[i]; }")
        self.run_scale("--space", self.space_file(sources={"scale.cu": source}))
        shown = self.tune("runs", "show").stdout
        self.assertRegex(shown, r"scale\.cu:3: assertion failed: BLOCK == 64; possible causes: a failed assert, __trap\(\)")

    def test_values_with_which_nothing_ended_ok_are_named_and_what_else_failed_is_shown(self):
        def change(document):
            document["kernels"]["scale"]["entry"] = "scale<${BLOCK}, ${FACTOR}>"
            document["kernels"]["scale"]["parameters"]["FACTOR"] = {"values": [1, 2, 3], "default": 1}
        source = SCALE_SOURCES["scale.cu"].replace("int BLOCK", "int BLOCK, int FACTOR").replace(
            "2 * x[i]", "(FACTOR == 3 || (FACTOR == 2 && BLOCK == 64) ? FACTOR + 1 : 2) * x[i]")
        self.run_scale("--space", self.space_file(change, {"scale.cu": source}))
        shown = self.tune("runs", "show").stdout
        self.assertIn("values with which no trial ended ok:\n  FACTOR=3 (2 trials)\n", shown)
        self.assertRegex(shown, r'3 wrong_result, the first at .*\n(.*\n)*(another at )?{"BLOCK":64,"FACTOR":2}')
        self.assertEqual(self.tune_json("runs", "show")["failing_values"], [{"parameter": "FACTOR", "value": 3, "trials": 2}])

    def test_a_reference_that_does_not_compile(self):
        path = self.space_file(sources={"plain.cu": "__global__ void plain(int N, const float* x, float* y) { nonsense; }\n"})
        done = self.tune("-q", "--kernel", "scale", "--backend", "cpu", "--space", path, code=1)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        self.assertIn("plain", done.stderr)
        self.assertIn("nonsense", done.stderr)

    def test_what_failed_before_says_why_when_it_is_taken_as_it_is(self):
        scale = ("--space", self.space_file(sources={"scale.cu": HALF_RIGHT}))
        self.run_scale(*scale)
        again = self.run_scale(*scale)
        self.assertIn("resuming: 2 results are already in the database", again.stderr)
        (message,) = self.rows("SELECT message FROM result WHERE outcome = 'wrong_result'")
        self.assertIn(f'failed before at 64: {{"BLOCK":32}}: wrong_result: {message[0]}', again.stderr)
        (kernel,) = self.tune_json("-q", "--kernel", "scale", "--backend", "cpu", *scale)["kernels"]
        self.assertEqual(kernel["sizes"][0]["reused_failures"],
                         [{"config": {"BLOCK": 32}, "outcome": "wrong_result", "message": message[0]}])

    def test_a_verdict_does_not_outlive_the_reference_that_it_was_judged_by(self):
        wrong = SCALE_SOURCES["plain.cu"].replace("2 * x[i]", "3 * x[i]")
        self.run_scale("--space", self.space_file(sources={"plain.cu": wrong}), code=4)
        self.assertEqual(self.rows("SELECT DISTINCT outcome FROM result"), [("wrong_result",)])
        corrected = self.run_scale("--space", self.space_file())
        self.assertNotIn("resuming", corrected.stderr)
        self.assertIn("failed: none", corrected.stderr)

    def test_a_verdict_does_not_outlive_its_check(self):
        def with_case(space):
            space["check"]["sizes"] = [[3]]
        self.run_scale("--space", self.space_file())
        self.assertNotIn("resuming", self.run_scale("--space", self.space_file(with_case)).stderr)
        self.assertIn("resuming", self.run_scale("--space", self.space_file(with_case)).stderr)
        self.assertEqual(self.rows("SELECT count(DISTINCT check_hash) FROM session"), [(2,)])

    def test_a_reference_that_crashes_is_named(self):
        path = self.space_file(sources={"plain.cu": SCALE_SOURCES["plain.cu"].replace("2 * x[i]", "*(volatile float*)8")})
        self.refuse("--kernel", "scale", "--backend", "cpu", "--space", path, code=1,
                    says=["the reference kernel plain (plain.cu) fails at size", "signal 11"])

    def test_a_compiler_that_writes_nothing(self):
        for end, says in (("exit 0", "wrote no image"), ("exit 1", "ended with exit code 1 and printed nothing")):
            with self.subTest(end=end):
                compiler = self.text_file("c++", f'#!/bin/sh\ncase "$*" in *-dumpfullversion*) exec g++ "$@";; esac\n{end}\n')
                compiler.chmod(0o755)
                done = self.run_scale("--space", self.space_file(), "--dry-run", "--no-cache", code=1,
                                      env={"TUNER_HOST_CXX": str(compiler)})
                self.assertIn(f"{compiler} ended", done.stderr)
                self.assertIn(says, done.stderr)

    def test_a_message_of_the_compiler_is_about_the_kernel_alone(self):
        def change(space):
            space["kernels"]["scale"]["entry"] = "other::scale<${BLOCK}>"
        self.run_scale("--space", self.space_file(change), "--max-evals", "1", code=4)
        ((message,),) = self.rows("SELECT message FROM result")
        self.assertRegex(message, r"\Akernel entry other::scale<\d+>:1:\d+: error: .other. has not been declared\n\Z")

    def test_a_message_that_is_no_utf_8(self):
        compiler = self.text_file("c++", '#!/bin/sh\ncase "$*" in *-dumpfullversion*) exec g++ "$@";; *unit.cpp*)'
                                         " printf 'caf\\351\\n' >&2; exit 1;; esac\nexec g++ \"$@\"\n")
        compiler.chmod(0o755)
        self.run_scale("--space", self.space_file(), "--no-cache", "-q", code=4, env={"TUNER_HOST_CXX": str(compiler)})
        self.assertIn("caf\ufffd", self.tune_json("runs", "show")["failures"][0]["example"])
        self.assertIn("caf\\xe9", self.tune("runs", "show").stdout)

    def test_a_source_that_is_no_utf_8(self):
        path = self.space_file()
        (self.directory / "scale.cu").write_bytes(b"// caf\xe9\n" + SCALE_SOURCES["scale.cu"].encode())
        self.tune_json("-q", "--kernel", "scale", "--backend", "cpu", "--space", path)

    def test_a_header_that_is_missing(self):
        path = self.space_file(sources={"scale.cu": "#include <no/such/header.cuh>\n" + SCALE_SOURCES["scale.cu"]})
        self.run_scale("--space", path, "--max-evals", "1", code=4)
        ((message,),) = self.rows("SELECT message FROM result")
        self.assertIn("hint: the header no/such/header.cuh was found neither", message)

    def test_no_host_compiler(self):
        self.refuse("--kernel", "scale", "--backend", "cpu", "--space", self.space_file(), code=3,
                    says="TUNER_HOST_CXX", env={"TUNER_HOST_CXX": "/none/c++"})


if __name__ == "__main__":
    unittest.main()
