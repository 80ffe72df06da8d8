# SPDX-License-Identifier: Apache-2.0
"""Databases that cannot be used: one message, the exit code, and not a byte of theirs changed."""

import contextlib
import resource
import sqlite3
import unittest

from program import SCALE_SOURCES, SEED, SHORT_RUN, ProgramTest

READERS = (["query", "--kernel", "k", "--size", "1"], ["report"], ["export"], ["runs", "list"], ["runs", "show"])


class BadDatabaseTest(ProgramTest):
    def refuse_database(self, code, says, commands=(*READERS, SHORT_RUN)):
        before = self.database.read_bytes() if self.database.is_file() else None
        for command in commands:
            with self.subTest(command=command[0]):
                self.refuse(*command, code=code, says=says)
        if before is not None:
            self.assertEqual(self.database.read_bytes(), before)

    def execute(self, script):
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.executescript(script)

    def test_none_yet(self):
        self.refuse_database(code=5, says="run `tune` first", commands=READERS)
        self.assertFalse(self.database.exists())

    def test_not_sqlite(self):
        self.database.write_text("a letter to someone\n" * 100)
        self.refuse_database(code=2, says="is not a database")

    def test_a_directory(self):
        self.database.mkdir()
        self.refuse_database(code=2, says="is a directory")

    def test_of_another_application(self):
        self.execute("CREATE TABLE bookmarks (url); PRAGMA application_id = 7;")
        self.refuse_database(code=2, says="another application")

    def test_of_a_newer_version(self):
        self.execute("PRAGMA application_id = 0x74756e65; PRAGMA user_version = 99; CREATE TABLE device (id);")
        self.refuse_database(code=2, says="newer tune (schema 99")

    def test_where_others_may_write(self):
        self.tune("-q", "import", SEED)
        self.directory.chmod(0o777)
        self.refuse_database(code=2, says=["other users may write", "--trust-db"])
        self.assertEqual(self.tune("export", "--trust-db").stdout.count("\n"), 8)
        self.directory.chmod(0o700)
        self.database.chmod(0o666)
        self.refuse_database(code=2, says=["other users may write", f"chmod go-w {self.database}"])

    def test_places_that_cannot_be_written(self):
        file = self.text_file("file", "mine")
        for place in (file / "below.db", "/proc/tune.db"):
            with self.subTest(place=place):
                self.refuse(*SHORT_RUN, "--db", place, code=1, says=[str(place), "--db"])
        self.assertEqual(file.read_text(), "mine")

    def test_a_full_disk_loses_nothing(self):
        run = ("--kernel", "scale", "--backend", "cpu", "--space")
        self.tune("-q", *run, self.space_file())
        before = self.rows("SELECT * FROM result")

        def more_values(space):
            space["kernels"]["scale"]["parameters"]["BLOCK"]["values"] = list(range(32, 64))
        # Candidates whose messages fill the file quickly, and a limit on the size of every file.
        path = self.space_file(more_values, {"scale.cu": "#error " + "x" * 3000 + "\n" + SCALE_SOURCES["scale.cu"]})
        limit = self.database.stat().st_size + 5 * 4096
        self.refuse(*run, path, code=1, says=[str(self.database), "everything committed before is kept"],
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        after = self.rows("SELECT * FROM result")
        self.assertEqual(after[:len(before)], before)
        self.assertGreater(len(after), len(before))
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])


class DefaultDatabaseTest(ProgramTest):
    def test_the_file_here_is_no_default(self):
        env = {"TUNER_DB": "", "XDG_DATA_HOME": str(self.directory / "data"), "HOME": str(self.directory)}
        says = self.refuse("runs", "list", code=5, says="data/tune/tune.db", env=env)
        self.assertIn("no database at", says.stderr)
        self.text_file("tune.db", "not one")
        says = self.tune("runs", "list", code=5, env=env).stderr
        self.assertIn("./tune.db is not used: --db tune.db or TUNER_DB names it\nerror: no database at", says)


if __name__ == "__main__":
    unittest.main()
