# SPDX-License-Identifier: Apache-2.0
"""`pip wheel` works without a network, and what it makes can be installed and used."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import ctypes, tuner
class Two:  # an array without NumPy
    def __init__(self):
        self.memory = (ctypes.c_float * 4)(1, 2, 3, 4)
        self.__array_interface__ = {"typestr": "<f4", "shape": (2, 2), "data": (ctypes.addressof(self.memory), False)}
a, out = Two(), Two()
tuner.matmul(a, a, out, dispatcher=tuner.Dispatcher(tuner.Table.empty(), backend="cpu"))
print(tuner.__version__, tuner.__file__, *out.memory)
"""


class WheelTest(unittest.TestCase):
    def test_a_wheel_is_built_without_a_network_and_installed(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        offline = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", ROOT / "python", "-w", path], check=True, env=offline)
        wheels = list(path.glob("*.whl"))
        self.assertEqual([wheel.name for wheel in wheels], [f"tuner-{self.version()}-py3-none-any.whl"])
        venv.create(path / "venv", with_pip=True)
        python = path / "venv/bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", wheels[0]], check=True, env=offline)
        alone = {**os.environ, "TUNER_LIBRARY": os.environ["LIBRARY"]}
        alone.pop("PYTHONPATH", None)
        done = subprocess.run([python, "-c", PROGRAM], cwd=path, text=True, capture_output=True, env=alone)
        self.assertRegex(done.stdout, rf"{self.version()} {path}/venv/.*/tuner/__init__.py 7.0 10.0 15.0 22.0",
                         done.stderr)
        files = subprocess.run([python, "-m", "pip", "show", "-f", "tuner"], text=True, capture_output=True, env=alone).stdout
        self.assertIn("tuner/py.typed", files)

    @staticmethod
    def version():
        """The package has that of the project."""
        return re.search(r"project\(tuner VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


if __name__ == "__main__":
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        print("pip is not installed", file=sys.stderr)
        sys.exit(77)
    unittest.main()
