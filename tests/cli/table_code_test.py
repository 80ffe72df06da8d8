# SPDX-License-Identifier: Apache-2.0
"""Compiled code in dispatch tables, which NVRTC makes without a GPU."""

import json
import unittest

from program import ROOT, ProgramTest

SHIPPED = ROOT / "db/seed/nvidia-h200.json"


class TableCodeTest(ProgramTest):
    def table(self, architecture="sm_90", portfolios=True, **device):
        """The copies of the shipped table, two of which are a portfolio."""
        table = json.loads(SHIPPED.read_text())
        del table["checksum"], table["portfolios"], table["code"]
        table["device"].update(architecture=architecture, **device)
        table["kernels"] = [it for it in table["kernels"] if it["family"] == "copy"]
        [kernel] = table["kernels"]
        entries = {it["config"]: it for it in kernel["entries"]}
        members = list(entries)[:2]
        if portfolios:
            table["portfolios"] = [{
                "family": "copy", "types": "", "distribution": "two", "recorded_at": "2026-01-01T00:00:00Z", "loss": 1.01,
                "left_out_loss": None, "environment": table["environment"],
                "members": [{"kernel": kernel["kernel"], "hash": kernel["hash"], "values": kernel["configs"][it]["values"]}
                            for it in members],
                "sizes": [[entries[it]["size"], 1.0, 1000.0, None] for it in members]}]
        return self.text_file("table.json", json.dumps(table))

    def compiled(self, **of):
        table = self.table(**of)
        self.tune("tables", "compile", table, "-q")
        return table

    def check(self, table):
        return self.tune_json("tables", "check", table)

    def test_members_are_compiled_into_a_table(self):
        table = self.table()
        done = self.tune("tables", "compile", table, "-o", "compiled.json")
        self.assertRegex(done.stderr, r"2 kernels compiled for sm_90 by NVRTC \d+\.\d+: \d+ KiB in the table\n")
        self.assertNotIn("code", json.loads(table.read_text()), "another file was written")
        compiled = self.directory / "compiled.json"
        document = self.check(compiled)
        self.assertEqual(document["warnings"], [])
        self.assertEqual({it: document["code"][it] for it in ("kernels", "members", "members_with_code")},
                         {"kernels": 2, "members": 2, "members_with_code": 2})
        self.assertRegex(self.tune("tables", "check", compiled).stdout,
                         r"compiled code for sm_90 by NVRTC \S+: 2 kernels, 2 of 2 of portfolios\n")
        before = compiled.read_text()
        self.tune("tables", "compile", compiled, "-q")
        self.assertEqual(compiled.read_text(), before, "the same code, in place of what there was")

    def test_it_is_for_the_architecture_of_the_tables_device(self):
        table = self.compiled(architecture="sm_80")
        self.assertEqual(json.loads(table.read_text())["code"]["architecture"], "sm_80")
        self.assertEqual(self.check(table)["warnings"], [])

    def test_all_that_was_best_is_compiled_where_it_is_asked_for(self):
        table = self.table(portfolios=False)
        self.refuse("tables", "compile", table, code=5, says=("has no portfolios", "--code bests"))
        self.tune("tables", "compile", table, "--code", "bests", "-q")
        code = self.check(table)["code"]
        self.assertGreater(code["kernels"], 2)
        self.assertEqual(code["members"], 0)

    def test_damage_is_named_and_the_table_is_still_one(self):
        text = self.compiled().read_text()
        last = text.rindex('"]')
        damaged = {
            "is damaged (its checksum)": text[:last - 8] + "AAAA" + text[last - 4:],
            "is cut off: 1 of 2 kernels are there": text[:text.rindex("\n[") + 1],
            'has the format "code/9", this version reads code/1': text.replace("code/1", "code/9"),
            "the head of the table's compiled code is damaged": text[:text.index('"code":') + 20],
            "is for sm_80, this device is sm_90": text.replace('code/1","architecture":"sm_90', 'code/1","architecture":"sm_80'),
            "compiled code in it is not used": text.replace("NVIDIA H200", "NVIDIA H201").replace("copy", "c\\u006fpy"),
        }
        for says, content in damaged.items():
            document = self.check(self.text_file("damaged.json", content))
            self.assertTrue(any(says in it for it in document["warnings"]), (says, document["warnings"]))
            self.assertEqual([it["family"] for it in document["families"]], ["copy"])
        [warning] = [it for it in self.check(self.text_file("damaged.json", damaged["is damaged (its checksum)"]))["warnings"]
                     if "no code" in it]
        self.assertRegex(warning, "^copy_row .* is compiled from source: the table has no code of it$")

    def test_what_does_not_compile_is_left_to_its_source(self):
        table = self.table(architecture="sm_10")  # which no compiler knows
        before = table.read_text()
        done = self.tune("tables", "compile", table, code=1)
        self.assertRegex(done.stderr, r"warning: copy_row \{.*\} is not compiled: ")
        self.assertIn("error: --code: none of 2 configurations could be compiled for sm_10", done.stderr)
        self.assertEqual(table.read_text(), before)

    def test_a_full_disk_leaves_the_table_as_it_was(self):
        table = self.table()
        before = table.read_text()
        self.refuse("tables", "compile", table, "-o", "/dev/full", code=1, says="/dev/full")
        self.assertEqual(table.read_text(), before)

    def test_a_processors_table_holds_sources_alone(self):
        self.refuse("tables", "compile", self.table(backend="cpu"), code=2, says="hold sources alone")

    def test_other_words_are_refused(self):
        self.refuse("tables", "compile", self.table(), "--code", "member", code=2, says=("there is no 'member'", "members"))
        self.refuse("export", "--code", "members", code=2, says="--code has no effect with --format bests")


if __name__ == "__main__":
    unittest.main()
