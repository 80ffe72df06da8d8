# SPDX-License-Identifier: Apache-2.0
"""Which library the package loads: none that another user put where it looks."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534


class PlantedLibraryTest(unittest.TestCase):
    """The package lies in a folder of the user, below one for everybody, such as /tmp."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.shared = pathlib.Path(folder.name) / "shared"
        self.package = self.shared / "mine" / "tuner"
        shutil.copytree(ROOT / "python" / "tuner", self.package)
        self.shared.chmod(0o1777)
        # What makes the package take the shared folder for the sources of tuner.
        self.make(self.shared / "tuner" / "dispatch" / "dispatch.h")

    def make(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        return path

    def found(self):
        program = "from tuner._library import SONAME, library_path; print(library_path() != SONAME)"
        environment = {name: value for name, value in os.environ.items() if name != "TUNER_LIBRARY"}
        done = subprocess.run([sys.executable, "-B", "-c", program], cwd="/", text=True, capture_output=True, timeout=60,
                              env={**environment, "PYTHONPATH": str(self.package.parent)}, check=True)
        return done.stdout.strip() == "True"

    def plant(self):
        name = subprocess.run([sys.executable, "-B", "-c", "from tuner._library import SONAME; print(SONAME)"], text=True,
                              env={**os.environ, "PYTHONPATH": str(self.package.parent)}, capture_output=True, check=True)
        return self.make(self.shared / "build" / "ci" / name.stdout.strip())

    def test_one_of_the_user_is_taken(self):
        self.plant()
        self.assertTrue(self.found())

    def test_one_in_a_folder_for_everybody(self):
        self.plant().parent.chmod(0o1777)
        self.assertFalse(self.found())

    def test_one_that_everybody_may_write(self):
        self.plant().chmod(0o666)
        self.assertFalse(self.found())

    @unittest.skipIf(os.geteuid() != 0, "only root can make files of another user")
    def test_one_of_another_user(self):
        planted = self.plant()
        os.chown(planted.parent, NOBODY, NOBODY)
        self.assertFalse(self.found())
        os.chown(planted.parent, 0, 0)
        os.chown(planted, NOBODY, NOBODY)
        self.assertFalse(self.found())


if __name__ == "__main__":
    unittest.main()
