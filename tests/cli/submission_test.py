# SPDX-License-Identifier: Apache-2.0
"""tune tables check --submission, tune tables merge: what stands against results of a stranger's card."""

import json
import unittest

from program import ROOT, SEED, ProgramTest

def suite(*sizes):
    return json.dumps({"format": "suite/1", "family": "gemm", "groups": [{"name": "few", "doc": "few sizes", "sizes": sizes}]})


class SubmissionTest(ProgramTest):
    exported = ""  # by the first test

    def setUp(self):
        super().setUp()
        if not SubmissionTest.exported:
            self.tune("-q", "--space", ROOT / "spaces/gemm.json", "--kernel", "gemm_naive", "--size", "16,64,32", "--size", "32,64,32",
                      "--backend", "cpu", "--max-evals", 1)
            SubmissionTest.exported = self.tune("-q", "export", "--format", "json").stdout
        self.text_file("table.json", self.exported)
        self.table = json.loads(self.exported)
        self.suite = self.text_file("few.json", suite([16, 64, 32], [32, 64, 32]))

    def objections(self, table, sizes=None):
        done = self.tune("tables", "check", table, "--submission", "--json", "--sizes", sizes or self.suite, code=(0, 1))
        found = json.loads(done.stdout)["objections"]
        self.assertEqual(done.returncode, 1 if found else 0)
        return found

    def changed(self, change):
        table = json.loads(json.dumps(self.table))
        for entry in table["kernels"][0]["entries"]:
            change(entry)
        return self.text_file("changed.json", json.dumps(table))

    def test_a_table_has_what_is_needed_to_trust_it(self):
        for entry in self.table["kernels"][0]["entries"]:
            self.assertGreaterEqual(entry["samples"], 1)
            self.assertLessEqual(entry["q1_ns"], entry["median_ns"])
            self.assertLessEqual(entry["median_ns"], entry["q3_ns"])
        # How quiet this machine is, and how many samples that leaves, is not for this test.
        found = [it for it in self.objections("table.json") if "quartiles" not in it and "samples" not in it]
        self.assertEqual(found, [])

    def test_what_stands_against_it_is_named(self):
        def objections(change):
            return " | ".join(self.objections(self.changed(change)))

        edited = objections(lambda entry: entry.update(median_ns=entry["q1_ns"]))
        self.assertIn("the file was changed after `tune export` wrote it", edited)
        self.assertIn("2 tuned sizes were measured beside other processes", objections(lambda entry: entry.update(shared=True)))
        self.assertIn("quartiles over 5 % apart", objections(lambda entry: entry.update(q3_ns=2 * entry["median_ns"])))
        self.assertIn("fewer than 5 samples", objections(lambda entry: entry.update(samples=2)))
        self.assertIn("have no spread", objections(lambda entry: entry.pop("samples")))
        self.assertIn("are imported and not verified", objections(lambda entry: entry.update(verified=False, origin="a.jsonl")))

        self.table["kernels"][0]["environments"][0]["tool"] = "0.0.1"
        self.assertIn("2 tuned sizes were measured by another version than", objections(lambda entry: None))

    def test_clocks_are_told_and_low_ones_warned_of(self):
        self.table["device"]["backend"] = "cuda"
        checked = lambda table: self.tune("tables", "check", table)
        self.assertIn("\nclocks: unknown for 2 of 2 tuned sizes\n", checked(self.changed(lambda entry: None)).stdout)
        clocks = iter([1410.2, 980])

        def timed(entry):
            entry.update(clock_mhz=next(clocks), max_clock_mhz=1980, power_limit_w=700)

        table = self.changed(timed)
        done = checked(table)
        self.assertIn("\nclocks: 980 to 1410 MHz, at most 1980 MHz, power limit 700 W\n", done.stdout)
        low = "1 tuned size was timed below 50 % of the card's highest clock"
        self.assertIn(f"warning: {low}", done.stderr)
        found = json.loads(self.tune("tables", "check", table, "--json").stdout)
        self.assertEqual(found["clocks"], {"mhz": [980, 1410.2], "max_mhz": [1980, 1980], "power_limit_w": [700, 700], "unknown": 0})
        self.table["kernels"][0]["entries"] = []  # of `tune setup`: portfolios alone
        self.assertNotIn("clocks", checked(self.text_file("none.json", json.dumps(self.table))).stdout)
        self.assertEqual([it for it in self.objections(table) if low in it], [], "a small card may be limited by its power")

    def test_coverage_is_asked_for(self):
        more = self.text_file("more.json", suite([16, 64, 32], [512, 512, 512]))
        self.assertIn(f"{more} has 2 sizes: 1 missing", self.objections("table.json", more))
        text = self.tune("tables", "check", "table.json", "--submission", code=1).stdout
        self.assertIn("refused: name the suites that it should have with --sizes", text)

    def test_a_kernel_that_is_not_included_is_named(self):
        self.database = self.directory / "own.db"
        self.tune("-q", "--space", self.space_file(), "--kernel", "scale", "--backend", "cpu", "--max-evals", 1)
        self.tune("-q", "export", "--format", "json", "-o", "own.json")
        own = " ".join(self.tune_json("tables", "check", "own.json", "--submission", code=1)["objections"])
        self.assertRegex(own, r"the family \w+ is not an included one")

    def test_a_wrong_spread_is_refused(self):
        changed = self.changed(lambda entry: entry.update(q1_ns=2 * entry["median_ns"]))
        self.refuse("tables", "check", changed, code=2, says="a number is out of range")

    def test_merge_takes_no_changed_table_and_warns_of_doubts(self):
        shared = self.changed(lambda entry: entry.update(shared=True))
        self.refuse("tables", "merge", "table.json", shared, "-o", "both.json", code=2,
                    says=("changed.json", "the file was changed after `tune export` wrote it"))
        self.assertFalse((self.directory / "both.json").exists())
        self.table["device"]["architecture"] = "sm_00"
        other = self.text_file("other.json", json.dumps(self.table))
        self.refuse("tables", "merge", "table.json", other, "-o", "both.json", code=2, says="other.json")

    def test_a_merge_that_is_refused_says_only_why(self):
        self.tune("-q", "import", SEED)
        self.tune("-q", "export", "--format", "json", "--device", "NVIDIA H200", "-o", "imported.json")  # others were measured on this card
        done = self.tune("tables", "merge", "table.json", "imported.json", "-o", "both.json", code=2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("error: one table is of "), done.stderr)


if __name__ == "__main__":
    unittest.main()
