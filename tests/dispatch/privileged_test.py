# SPDX-License-Identifier: Apache-2.0
"""A program that has rights which its user lacks takes nothing from the user's environment."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["PRIVILEGED_PROGRAM"])


class PrivilegedTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.directory.chmod(0o755)
        self.ran = self.directory / "ran"
        compiler = self.directory / "g++"
        compiler.write_text(f"#!/bin/sh\ntouch {self.ran}\necho 12.2.0\n")
        compiler.chmod(0o755)

    def answers(self, program):
        home = self.directory
        env = {"HOME": str(home), "XDG_CACHE_HOME": f"{home}/cache", "XDG_DATA_HOME": f"{home}/data",
               "TUNER_DB": f"{home}/tune.db", "TUNER_RECORD": f"{home}/sizes.json", "TMPDIR": str(home),
               "TUNER_HOST_CXX": f"{home}/g++", "PATH": f"{home}:/usr/bin:/bin"}
        done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=60, check=True)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def set_id_copy(self):
        """A copy with an identity of another: root's children run it as nobody's, others' with another group."""
        program = self.directory / "program"
        shutil.copy(PROGRAM, program)
        if os.geteuid() == 0:
            os.chown(program, 65534, 65534)
            program.chmod(0o755 | stat.S_ISUID)
        else:
            others = [group for group in os.getgroups() if group != os.getegid()]
            if not others:
                self.skipTest("neither root nor a second group, so no program can be given another identity")
            os.chown(program, -1, others[0])
            program.chmod(0o755 | stat.S_ISGID)
        return program

    def test_an_ordinary_program_takes_all(self):
        answers = self.answers(PROGRAM)
        self.assertEqual(answers["privileged"], "false")
        self.assertEqual(answers["record"], f"{self.directory}/sizes.json")
        self.assertEqual(answers["cache"], f"{self.directory}/cache/tune/binaries")
        self.assertEqual(answers["database"], f"{self.directory}/tune.db")
        self.assertEqual(answers["temporary"], str(self.directory))
        self.assertEqual(answers["compiler"], f"{self.directory}/g++ 12.2.0")
        self.assertTrue(self.ran.exists(), "the compiler that TUNER_HOST_CXX names")

    def test_a_privileged_one_takes_nothing(self):
        answers = self.answers(self.set_id_copy())
        if answers["privileged"] == "false":
            self.skipTest("the file system ignores set-uid bits")
        self.assertEqual(answers["record"], "")
        self.assertEqual(answers["cache"], "")
        self.assertIn("error: ", answers["database"])
        self.assertEqual(answers["temporary"], "/tmp")
        self.assertIn("error: the cpu backend is not available", answers["cpu"])
        self.assertEqual(answers["compiler"], "not looked for")
        self.assertFalse(self.ran.exists())


if __name__ == "__main__":
    unittest.main()
