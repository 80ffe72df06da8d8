# SPDX-License-Identifier: Apache-2.0
"""tune judge: one document for every end. That the golden files fit their schema is shown by docs.schema."""

import json
import signal
import time
import unittest

from program import GEMM, PATIENCE, ROOT, SCALE_SOURCES, ProgramTest

SCHEMA = json.loads((ROOT / "spaces" / "schema" / "judge-1.schema.json").read_text())
GOLDEN = ROOT / "tests" / "data" / "judge"
RIGHT = SCALE_SOURCES["scale.cu"]
WRONG_AT_3 = RIGHT.replace("2 * x[i]", "i == 3 ? 5 : 2 * x[i]")
HANGS = RIGHT.replace("if (i < N)", "const volatile float* p = x;\n  while (p[0] == p[0]) {}\n  if (i < N)")


def masked(document):
    """Without what depends on the machine, the time or the number of checks."""
    def zeroed(numbers):
        return numbers and {name: number and 0 for name, number in numbers.items()}

    failed = [check for check in document["checks"] if check["outcome"] != "ok"]
    return {**document,
            "device": {name: "" for name in document["device"]},
            "compile": {**document["compile"], "time_ms": 0},
            "checks": [document["checks"][0], *failed] if document["checks"] else [],
            "time": zeroed(document["time"]),
            "ratios": {name: zeroed(ratio) for name, ratio in document["ratios"].items()},
            "elapsed_s": 0}


class JudgeTest(ProgramTest):
    def judge(self, source=RIGHT, *arguments, code=0, change=None, env=None):
        """The document on a kernel `scale` of this source."""
        space = self.space_file(change, {"scale.cu": source})
        document = self.tune_json("judge", space, "--backend", "cpu", *arguments, code=code, env=env)
        self.check_fields(document)
        return document

    def check_fields(self, document):
        """Each field of the schema is there, and no other."""
        check = SCHEMA["$defs"]["check"]
        self.assertEqual(sorted(document), sorted(SCHEMA["properties"]))
        for each in document["checks"]:
            self.assertEqual(sorted(each), sorted(check["properties"]))
            if each["element"]:
                self.assertEqual(sorted(each["element"]), sorted(check["properties"]["element"]["properties"]))
        for name in ("device", "compile", "time", "ratios", "resources"):
            if document[name]:
                self.assertEqual(sorted(document[name]), sorted(SCHEMA["properties"][name]["required"]))

    def check_golden(self, name, document):
        found = masked(document)
        self.assertEqual(found, json.loads((GOLDEN / name).read_text()),
                         f"{GOLDEN / name} should be\n{json.dumps(found, indent=1)}")

    def test_a_right_kernel(self):
        document = self.judge(RIGHT, "--config", "BLOCK=64")
        self.check_golden("ok.json", document)
        self.assertGreater(document["time"]["median_ns"], 0)
        self.assertLessEqual(document["time"]["low_ns"], document["time"]["median_ns"])
        for other in ("reference", "default"):
            ratio = document["ratios"][other]
            self.assertLessEqual(ratio["low"], ratio["ratio"])
            self.assertGreater(ratio["ratio"], 0)
        self.assertFalse(self.database.exists(), "nothing is stored")

    def test_a_wrong_element_with_both_values(self):
        document = self.judge(WRONG_AT_3, code=4)
        self.check_golden("wrong_result.json", document)
        element = document["checks"][-1]["element"]
        self.assertEqual((element["buffer"], element["index"], element["value"]), ("y", 3, 5))

    def test_the_compilers_log(self):
        document = self.judge(RIGHT.replace("2 * x[i]", "2 * z[i]"), code=4)
        self.assertIn("z", document["compile"]["log"])
        document["compile"]["log"] = document["message"] = "…"
        self.check_golden("compile_error.json", document)

    def test_a_ratio_above_1_is_that_of_the_faster_kernel(self):
        slow = RIGHT.replace("2 * x[i]", "2 * x[i]").replace(
            "if (i < N)", "float s = 0; for (int j = 0; j < 2000; ++j) s += x[(i + j) % N];\n"
            "  if (i < N && s == s)")
        ratio = self.judge(slow, "--size", "4096")["ratios"]["reference"]["ratio"]
        self.assertLess(ratio, 0.9, "the reference takes a small part of the time")

    def test_the_library_of_a_family_that_has_one(self):
        document = self.tune_json("judge", GEMM, "--kernel", "gemm_naive", "--backend", "cpu", "--size", "16,16,16")
        self.check_fields(document)
        self.assertGreater(document["ratios"]["library"]["ratio"], 0)
        self.assertIsNone(document["ratios"]["reference"])

    def test_equal_but_for_times(self):
        for source, code in ((RIGHT, 0), (WRONG_AT_3, 4)):
            one, other = (masked(self.judge(source, "--seed", "7", code=code)) for _ in range(2))
            self.assertEqual(one, other)
            self.assertEqual(one["seed"], 7)

    def test_a_time_limit_ends_a_kernel_that_does_not(self):
        begin = time.monotonic()
        document = self.judge(HANGS, "--max-time", "2s", "--launch-timeout", "60s", code=1)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual((document["verdict"], document["outcome"], document["stage"]), ("timeout", None, "verify"))

    def test_a_launch_that_hangs_is_refused(self):
        document = self.judge(HANGS, "--launch-timeout", "1s", code=4)
        self.assertEqual((document["verdict"], document["outcome"]), ("refused", "timeout"))

    def test_a_kernel_that_crashes(self):
        document = self.judge(RIGHT.replace("2 * x[i]", "*(volatile float*)8"), code=4)
        self.assertEqual((document["verdict"], document["outcome"]), ("refused", "crashed"))

    def test_what_cannot_be_judged_has_a_document_too(self):
        for arguments, code in ((("--size", "-1"), 2), (("--config", "BLOCK=3"), 2), (("--kernel", "scael"), 2)):
            document = self.judge(RIGHT, *arguments, code=code)
            self.assertEqual((document["verdict"], document["outcome"]), ("error", None))
            self.assertNotEqual(document["message"], "")
        missing = self.tune("judge", self.directory / "missing.json", "--json", code=2)
        self.check_fields(json.loads(missing.stdout))
        self.assertIn("missing.json", missing.stderr)

    def test_a_constraint_that_rejects_the_configuration(self):
        def narrow(document):
            document["kernels"]["scale"]["constraints"] = [{"expr": "BLOCK == 32", "why": "small"}]
        document = self.judge(RIGHT, "--config", "BLOCK=64", change=narrow, code=4)
        self.assertEqual(document["verdict"], "error")
        self.assertIn("small", document["message"])

    def test_a_signal(self):
        space = self.space_file(None, {"scale.cu": HANGS})
        process = self.start("judge", space, "--backend", "cpu", "--json", "--launch-timeout", "2s")
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
        document = json.loads(output)
        self.check_fields(document)
        self.assertIn((process.returncode, document["verdict"]), ((130, "interrupted"), (130, "refused")))

    def test_a_stored_trial_is_no_best_result_and_is_not_repeated(self):
        self.assertTrue(self.judge(RIGHT, "--store", "--config", "BLOCK=64")["stored"])
        self.assertIn("complete", self.tune("runs", "list").stdout)
        self.assertIn('{"BLOCK":32}', self.tune("query", "--kernel", "scale", "--size", "64").stdout, "the default")
        space = self.directory / "scale.json"
        self.tune("--space", space, "--kernel", "scale", "--backend", "cpu", "--size", "64")
        trials = self.rows("SELECT count(*) FROM result")
        self.assertEqual(trials, [(2,)], "of two configurations one was known")

    def test_for_people(self):
        done = self.tune("judge", self.space_file(), "--backend", "cpu", "--config", "BLOCK=64")
        for line in ("scale 64 BLOCK=64 on ", "checks: ", "time: ", "reference: ", "default: "):
            self.assertIn("\n" + line, "\n" + done.stdout)
        wrong = self.tune("judge", self.space_file(None, {"scale.cu": WRONG_AT_3}), "--backend", "cpu", code=4)
        self.assertIn("wrong_result: y[3] is 5", wrong.stdout)
        self.assertIn("failed: size 33, ", wrong.stdout)


if __name__ == "__main__":
    unittest.main()
