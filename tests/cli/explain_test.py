# SPDX-License-Identifier: Apache-2.0
"""tune explain on the cpu backend: all but the counters."""

import contextlib
import sqlite3
import unittest

from program import ProgramTest

SCALE = ("--kernel", "scale", "--backend", "cpu")


class ExplainTest(ProgramTest):
    def tuned(self):
        space = self.space_file()
        self.tune("--space", space, *SCALE, "-q")
        return space

    def test_without_counters_everything_else_is_shown(self):
        space = self.tuned()
        lines = self.tune("explain", "--space", space, *SCALE, "--size", "64").stdout.splitlines()
        self.assertRegex(lines[0], "^scale 64 on ")
        self.assertEqual(lines[1], "limiter: unknown: hardware counters are not available on the cpu backend")
        self.assertRegex(lines[2], r"^best: BLOCK=(32|64), [0-9.]+ .?s$")
        self.assertEqual(lines[3], "one parameter changed:")
        self.assertRegex(lines[4], r"^  BLOCK (32 → 64|64 → 32): (same time|[-+][0-9.]+ % time|×[0-9.]+ the time)$")
        self.assertRegex(lines[5], r"^roofline: 0.125 FLOP/byte, [0-9.]+ .?FLOP/s$")
        self.assertEqual(lines[6], "resources: 0 B of shared memory a block")

    def test_the_document(self):
        space = self.tuned()
        document = self.tune_json("explain", "--space", space, *SCALE, "--size", "64")
        self.assertEqual(document["schema"], "tune.explain/1")
        self.assertIsNone(document["limiter"])
        self.assertIn("cpu backend", document["counters_problem"])
        self.assertEqual([each["role"] for each in document["contenders"]], ["best", "neighbour"])
        neighbour = document["contenders"][1]
        self.assertEqual({neighbour["from"], neighbour["to"]}, {"32", "64"})
        self.assertIsNone(neighbour["counters"])
        self.assertLessEqual(neighbour["ratio_low"], neighbour["ratio_high"])

    def test_the_report_has_it(self):
        space = self.tuned()
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            def rows():
                return database.execute("SELECT role, parameter FROM explained ORDER BY id").fetchall()
            self.assertEqual(rows(), [])
            self.tune("explain", "--space", space, *SCALE, "--size", "64")
            self.assertEqual(rows(), [("best", ""), ("neighbour", "BLOCK")])
        self.database.chmod(0o400)
        self.tune("report", "-o", self.directory / "report")
        self.assertEqual(len(list((self.directory / "report").glob("*.html"))), 1)

    def test_a_run_may_explain_its_winners(self):
        space = self.space_file()
        done = self.tune("--space", space, *SCALE, "--size", "64", "--explain-winner", "-q")
        self.assertIn("limiter: unknown: ", done.stdout)
        document = self.tune_json("--space", space, *SCALE, "--size", "64", "--explain-winner", "-q")
        self.assertEqual([each["schema"] for each in document["explanations"]], ["tune.explain/1"])
        self.refuse("--space", space, *SCALE, "--explain-winner", "--launch", "ssh nowhere", code=2,
                    says="leave out --launch")

    def test_the_space_file_is_that_of_the_newest_run(self):
        self.tuned()
        self.assertIn("best: BLOCK=", self.tune("explain", *SCALE, "--size", "64").stdout)
        (self.directory / "scale.json").unlink()
        self.refuse("explain", *SCALE, "--size", "64", code=2, says="name its file with --space")

    def test_neighbours_of_another_source_do_not_count(self):
        self.tuned()
        source = self.directory / "scale.cu"
        source.write_text(source.read_text().replace("2 * x[i]", "x[i] * 2"))
        out = self.tune("explain", *SCALE, "--size", "64").stdout
        self.assertIn("one parameter changed: no such configuration has a result", out)

    def test_what_is_not_there_is_said(self):
        space = self.space_file()
        self.refuse("explain", "--space", space, *SCALE, "--size", "64", code=5, says="no database")
        self.tuned()
        self.refuse("explain", "--space", space, *SCALE, "--size", "65", code=5, says="no result for kernel scale at 65")
        self.refuse("explain", "--size", "64", code=2, says="which kernel?")
        self.refuse("explain", "--space", space, *SCALE, code=2, says="which size")


if __name__ == "__main__":
    unittest.main()
