# SPDX-License-Identifier: Apache-2.0
"""Results from elsewhere: export, import, merge; and the quarantine."""

import json
import unittest

from program import ROOT, SEED, SHORT_RUN, ProgramTest

QUESTION = ("query", "--kernel", "gemm_shared", "--size", "1024,1024,1024")


class ImportTest(ProgramTest):
    def test_answers_with_a_caution(self):
        says = self.tune("import", SEED).stdout
        self.assertIn("8 best configurations added, not verified on this machine yet", says)
        answer = self.tune(*QUESTION, "--explain").stdout
        self.assertIn('"TILE_M":128', answer)
        self.assertIn(f"imported from {SEED}, not yet verified on this machine", answer)
        self.assertFalse(self.tune_json(*QUESTION)["tuned"]["verified"])
        self.refuse(*QUESTION, "--format", "cpp", code=5, says="imported without its sources")
        table = self.tune("export", "--format", "json", "-o", "table.json")
        self.assertIn("warning: without sources, as imported lines are: gemm_shared", table.stderr)

    def test_the_published_ones_answer(self):
        self.tune("-q", "import", ROOT / "db" / "seed" / "nvidia-h200.jsonl")
        for size in ("4096,4096,4096", "64,64,64,BATCH=128", "2048,4096,4096,TRANS_B=1"):
            answer = self.tune("query", "--kernel", "gemm_tiled", "--size", size, "--explain").stdout
            self.assertIn('"THREAD_M":', answer)

    def test_an_export_comes_back(self):
        self.tune("-q", "import", SEED)
        first = self.tune("export").stdout
        self.assertEqual(len(first.splitlines()), 8)
        self.assertEqual({json.loads(line)["format"] for line in first.splitlines()}, {"tune.best/2"})
        file = self.text_file("best.jsonl", first)
        counts = self.tune_json("import", file)["files"][0]
        self.assertEqual((counts["added"], counts["kept"]), (0, 8))

    def test_what_standard_input_lacks_is_named_and_nothing_is_imported(self):
        text = SEED.read_text()
        first = text.index("\n") + 1
        for given, says in ((text[:first + 500], "standard input, line 2: ends in the middle of the line: it was cut off"),
                            ("", "standard input: is empty"),
                            ("y\n" * (33 << 20), "standard input: more than the limit of 64 MiB"),
                            ("\0\1\2", "standard input, line 1: not valid JSON")):
            with self.subTest(says=says):
                self.assertIn(says, self.tune("import", "-", input=given, code=2).stderr)
                self.assertFalse(self.database.exists())
        self.assertIn("'-' is given twice", self.tune("import", "-", "-", input=text, code=2).stderr)

    def test_a_database_of_imported_results_has_no_run_to_show(self):
        self.tune("-q", "import", SEED)
        self.refuse("runs", "show", code=5, says="no runs; `tune --space FILE` starts one")

    def test_an_import_from_a_pipe(self):
        done = self.tune("import", "-", input=SEED.read_text())
        self.assertIn("standard input: 8 best configurations added", done.stdout)

    def test_an_export_is_of_what_is_named(self):
        self.fill(*SHORT_RUN)
        self.tune("-q", "import", SEED)

        def exported(*arguments):
            lines = map(json.loads, self.tune("export", *arguments).stdout.splitlines())
            return [(line["kernel"], line["problem"]) for line in lines]

        everything = exported()
        self.assertEqual(len(everything), 9)
        naive = [line for line in everything if line[0] == "gemm_naive"]
        self.assertIn(len(naive), range(1, 9))
        self.assertEqual(exported("--kernel", "gemm_naive"), naive)
        self.assertEqual(exported("--family", "gemm"), everything)
        self.refuse("export", "--family", "gemm", "--kernel", "none", code=5,
                    says="nothing to export for --family gemm --kernel none")

    def test_other_files_are_named(self):
        self.fill(*SHORT_RUN)
        self.tune("-q", "export", "--format", "json", "-o", "table.json")
        self.refuse("import", "table.json", code=2, says="table.json: is a dispatch table")
        self.refuse("import", ROOT / "tests/data/recorded/pnpoly.json", code=2, says="is a cache file of Kernel Tuner")

    def test_a_bad_line_refuses_its_file(self):
        lines = SEED.read_text().splitlines()
        line = json.loads(lines[1])
        self.assertEqual(line["format"], "tune.best/1", "which has no checksum")
        line["time_ns"]["samples"] *= -1
        lines[1] = json.dumps(line)
        file = self.text_file("bad.jsonl", "\n".join(lines) + "\n")
        self.refuse("import", file, code=2, says=["bad.jsonl, line 2", "'time_ns.samples'"])
        lines[1] = lines[0].replace('"samples":', '"samples":1')
        file = self.text_file("changed.jsonl", "\n".join(lines) + "\n")
        self.refuse("import", file, code=2, says=["changed.jsonl, line 2", "checksum"])
        self.assertFalse(self.database.exists())


class MergeTest(ProgramTest):
    def test_adds_a_run_once(self):
        self.fill(*SHORT_RUN)
        ours = self.directory / "ours.db"
        first = self.tune_json("merge", self.database, "--db", ours)["databases"][0]
        self.assertEqual((first["sessions"], first["bests"]), (1, 1))
        again = self.tune_json("merge", self.database, "--db", ours)["databases"][0]
        self.assertEqual((again["sessions"], again["known"], again["bests"]), (0, 1, 0))
        [theirs] = self.tune_json("runs", "list")["sessions"]
        [merged] = self.tune_json("runs", "list", "--db", ours)["sessions"]
        self.assertEqual(merged, theirs | {"merged": True})
        self.assertIn("complete, merged", self.tune("runs", "list", "--db", ours).stdout)
        self.assertNotIn("merged", self.tune("runs", "list").stdout)
        self.assertIn("merged from another database", self.tune("runs", "show", "--db", ours).stdout)
        answer = self.tune("query", "--kernel", "gemm_naive", "--size", "16,16,16", "--db", ours).stdout
        self.assertIn(f"imported from {self.database}", answer)
        self.assertIn("-D", self.tune("query", "--kernel", "gemm_naive", "--size", "16,16,16",
                                      "--format", "args", "--db", ours).stdout)

    def test_there_must_be_one(self):
        self.refuse("merge", "nowhere.db", code=5, says="no database at nowhere.db")


class QuarantineTest(ProgramTest):
    def test_empty(self):
        self.tune("-q", "import", SEED)
        self.assertEqual(self.tune_json("quarantine", "list")["configurations"], [])
        self.assertEqual(self.tune("quarantine", "clear").stdout, "0 configurations cleared\n")


if __name__ == "__main__":
    unittest.main()
