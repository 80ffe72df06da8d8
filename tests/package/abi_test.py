# SPDX-License-Identifier: Apache-2.0
"""The installed dispatcher serves applications of other compilers, languages and standard libraries alike."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PREFIX = pathlib.Path(os.environ["PREFIX"])
OTHER_COMPILER = "clang++-16"
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
# The name of each way to compile, and its compiler, options and source.
WAYS = {"g++": ("g++", ["-std=c++20"], "main.cpp"),
        "strings and lists of another layout": ("g++", ["-std=c++23", "-D_GLIBCXX_USE_CXX11_ABI=0"], "main.cpp"),
        "libc++": (OTHER_COMPILER, ["-std=c++20", "-stdlib=libc++"], "main.cpp"),
        "C": ("gcc", ["-std=c99"], "main.c"),
        "C of another compiler": ("clang-16", ["-std=c99"], "main.c")}


def run(words, environment):
    done = subprocess.run(list(map(str, words)), env=environment, text=True, capture_output=True, timeout=240)
    if done.returncode != 0:
        raise AssertionError(f"{words}\n{done.stdout}{done.stderr}")
    return done.stdout


class AbiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.folder = pathlib.Path(directory.name)
        package = next(PREFIX.glob("**/tuner-dispatch.pc"))
        cls.environment = {**os.environ, "TUNER_DB": str(cls.folder / "results.db"), "XDG_CACHE_HOME": str(cls.folder),
                           "PKG_CONFIG_PATH": str(package.parent)}
        cls.table = cls.folder / "saxpy.table.json"
        tune = PREFIX / "bin/tune"
        run([tune, "--space", ROOT / "examples/saxpy/saxpy.json", "--kernel", "saxpy", "--size", "1000", "--backend", "cpu",
             "--max-evals", "1", "-q"], cls.environment)
        run([tune, "export", "--format", "json", "--family", "saxpy", "-o", cls.table], cls.environment)
        flags = run(["pkg-config", "--cflags", "--libs", "tuner-dispatch"], cls.environment).split()
        cls.outputs = {}
        for number, (name, (compiler, options, source)) in enumerate(WAYS.items()):
            program = cls.program(number)
            run([compiler, *options, *STRICT, HERE / "abi" / source, "-o", program, *flags], cls.environment)
            cls.outputs[name] = run([program, cls.table], cls.environment)

    @classmethod
    def program(cls, number):
        return cls.folder / f"program{number}"

    def test_a_table_is_opened_and_a_kernel_prepared_and_launched(self):
        expected = re.compile(
            r"no table: .*no such table.*\n"
            r"gemm: unknown\n"
            r"family: .*saxpi.*saxpy.*\n"
            r'prepared 1000: exact saxpy \{"BLOCK":\d+,"ITEMS":\d\}, explained\n'
            r"prepared 1: .*2 are given.*\n"
            r"argument a  0 0\nargument x float 1000 0\nargument y float 1000 1\n"
            r"y: 7 7\n"
            r"served: saxpy exact 1\n"
            r"too few arguments: .*takes the arguments.*\n"
            r"c: 26 30 38 44\n"
            r"lda: .*lda is 1.*\n")
        for name, output in self.outputs.items():
            with self.subTest(name):
                self.assertRegex(output, f"^{expected.pattern}$")
                self.assertEqual(output, self.outputs["g++"])

    def test_the_other_standard_library_is_the_only_one_of_its_program(self):
        number = list(WAYS).index("libc++")
        needed = run(["readelf", "-d", self.program(number)], self.environment)
        self.assertIn("libc++.so", needed)
        self.assertNotIn("libstdc++", needed)


if __name__ == "__main__":
    if not shutil.which(OTHER_COMPILER) or not list(pathlib.Path("/usr/lib").glob("llvm-16/include/c++/v1/span")):
        print(f"{OTHER_COMPILER} or libc++-16-dev is not installed", file=sys.stderr)
        sys.exit(77)
    unittest.main()
