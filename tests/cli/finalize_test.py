# SPDX-License-Identifier: Apache-2.0
"""tune finalize: the final round of sizes that have screening times only."""

import contextlib
import json
import sqlite3
import unittest

from program import ProgramTest


class FinalizeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.space = self.space_file()
        self.fill("--space", "scale.json", "--kernel", "scale", "--backend", "cpu", "--size", "64", "--size", "65")
        # As if the run had been killed before the final round of the second size.
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            (problem,) = database.execute("SELECT id FROM problem WHERE size = '65'").fetchone()
            database.execute("DELETE FROM finalist WHERE final_id IN (SELECT id FROM final WHERE problem_id = ?)", (problem,))
            database.execute("DELETE FROM final WHERE problem_id = ?", (problem,))
            database.execute("DELETE FROM best WHERE problem_id = ?", (problem,))
            database.commit()

    def finalize(self, *arguments, **options):
        return self.tune("finalize", "--space", self.space, "--backend", "cpu", *arguments, **options)

    def test_times_the_best_again_and_nothing_else(self):
        trials = self.rows("SELECT count(*) FROM result")
        before = self.rows("SELECT id FROM final")
        done = self.finalize()
        self.assertRegex(done.stdout, r"^scale +(back to back|cold) .*\n65 .*BLOCK=\d+\n$")
        self.assertIn("final round: re-timing 2 finalists", done.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM result"), trials)
        self.assertEqual(len(self.rows("SELECT id FROM final")), len(before) + 1)
        self.assertEqual(self.tune_json("query", "--kernel", "scale", "--size", "65")["rung"], "exact")

    def test_says_that_nothing_is_left(self):
        self.finalize()
        self.assertEqual(self.finalize().stdout, "every size of this device and these versions has its final round\n")
        self.assertEqual(self.tune_json("finalize", "--space", self.space, "--backend", "cpu")["kernels"], [])

    def test_the_report_names_the_command(self):
        def page():
            return self.tune("report", "-o", "pages").stdout.split()[0]
        self.assertIn("screened", ", ".join(self.states(page())))
        self.assertEqual(self.page_data(page())["kernels"][0]["options"], "--kernel scale --space scale.json --backend cpu")
        self.finalize()
        self.assertNotIn("screened", ", ".join(self.states(page())))

    def test_what_an_earlier_version_stored_without_a_final_round_is_not_published(self):
        self.finalize()
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("DELETE FROM finalist WHERE final_id IN (SELECT f.id FROM final f "
                             "JOIN problem p ON p.id = f.problem_id WHERE p.size = '65')")
            database.commit()
        def published(command):
            return "65" in [json.loads(line)["problem"] for line in self.tune("export", *command).stdout.splitlines()]
        self.assertFalse(published(["--format", "bests"]))
        entries = json.loads(self.tune("-q", "export", "--format", "json").stdout)["kernels"][0]["entries"]
        self.assertEqual(len(entries), 1)
        self.assertNotEqual(self.tune_json("query", "--kernel", "scale", "--size", "65")["rung"], "exact")
        self.tune("report", "-o", "pages")
        page = next((self.directory / "pages").glob("*.html"))
        self.assertEqual(["screened" in state for state in self.states(page)].count(True), 1)
        self.finalize()
        self.assertTrue(published(["--format", "bests"]))

    def test_what_it_needs(self):
        self.refuse("finalize", code=2, says="tune finalize --space")
        self.refuse("finalize", "--space", self.space, "--kernel", "scal", code=2, says="did you mean 'scale'?")
        self.refuse("finalize", "--space", self.space, "--db", "none.db", code=5, says="no database at none.db")


if __name__ == "__main__":
    unittest.main()
