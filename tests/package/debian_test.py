# SPDX-License-Identifier: Apache-2.0
"""The Debian package, unpacked into a folder and used from there: program, library, Python package, tables."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["BUILD"])
VERSION = re.search(r"CMAKE_PROJECT_VERSION:STATIC=(\S+)", (BUILD / "CMakeCache.txt").read_text())[1]
PRODUCT = """
import ctypes, tuner
class Two:
    def __init__(self):
        self.memory = (ctypes.c_float * 4)(1, 2, 3, 4)
        self.__array_interface__ = {"typestr": "<f4", "shape": (2, 2), "data": (ctypes.addressof(self.memory), False)}
a, out = Two(), Two()
tuner.matmul(a, a, out, dispatcher=tuner.Dispatcher(tuner.Table.empty(), backend="cpu"))
print(tuner._library.library_path(), *out.memory)
"""


class DebianTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.folder = pathlib.Path(directory.name)
        subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder], check=True, timeout=200,
                       stdout=subprocess.DEVNULL)
        [cls.package] = cls.folder.glob("*.deb")
        cls.root = cls.folder / "root"
        subprocess.run(["dpkg-deb", "-x", cls.package, cls.root], check=True)
        cls.environment = {"PATH": f"{cls.root}/usr/bin:/usr/bin:/bin", "HOME": str(cls.folder),
                           "PYTHONPATH": f"{cls.root}/usr/lib/python3/dist-packages", "PYTHONDONTWRITEBYTECODE": "1"}

    def run_program(self, *words, **options):
        return subprocess.run(words, env=self.environment, cwd=self.folder, text=True, capture_output=True, timeout=250,
                              **options)

    def test_its_fields(self):
        fields = subprocess.run(["dpkg-deb", "-f", self.package], check=True, text=True, capture_output=True).stdout
        self.assertIn("Package: tuner\n", fields)
        self.assertIn(f"Version: {VERSION}\n", fields)
        self.assertRegex(fields, "(?m)^Depends: libc6 .*libfmt9")
        self.assertNotRegex(fields, "(?m)^Depends: .*(cuda|cublas|sqlite)")

    def test_the_program_finds_its_tables_and_kernels(self):
        done = self.run_program("tune", "query", "--family", "gemm", "--device", "NVIDIA H200", "--size", "1024,1024,1024",
                                "--explain")
        self.assertRegex(done.stdout, rf"(?s)table: shipped,\s+{self.root}/usr/share/tuner/tables/.*gemm_tma is chosen", done.stderr)
        self.assertNotIn("0 samples", done.stdout)
        question = ("tune", "query", "--size", "96,3000,5001,TRANS_B=1", "--kernel", "gemm_few_tiles")
        done = self.run_program(*question, "--device", "h200")
        self.assertIn('installed tables: --device "NVIDIA H100 80GB HBM3" or --device "NVIDIA H200"', done.stderr)
        done = self.run_program(*question, "--device", "NVIDIA H200")
        self.assertNotIn("no database", done.stderr)
        self.assertIn("tensor maps need rows that start on 16 bytes", done.stderr)
        done = self.run_program("tune", "space", "count", self.root / "usr/share/tuner/spaces/gemm.json")
        self.assertRegex(done.stdout, "[1-9][0-9]* valid configurations", done.stderr)

    def test_the_python_package_finds_the_library(self):
        done = self.run_program("/usr/bin/python3", "-c", PRODUCT)
        self.assertRegex(done.stdout, rf"{self.root}/usr/lib/libtuner_dispatch.so.\d+.\d+ 7.0 10.0 15.0 22.0", done.stderr)

    def test_an_application_is_compiled_against_it(self):
        (self.folder / "main.c").write_text("""
            #include <tuner/dispatch/dispatch.h>
            #include <stdio.h>
            int main(void) {
              tuner_dispatcher* dispatcher = NULL;
              tuner_table table = {TUNER_TABLE_FILE, "/no/such"};
              if (tuner_open(table, NULL, &dispatcher) != TUNER_OK) puts(tuner_last_error());
            }""")
        self.environment["PKG_CONFIG_PATH"] = f"{self.root}/usr/lib/pkgconfig"
        flags = self.run_program("pkg-config", "--cflags", "--libs", "tuner-dispatch", check=True).stdout.split()
        built = self.run_program("cc", "main.c", *flags, f"-Wl,-rpath,{self.root}/usr/lib", "-o", "main")
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertRegex(self.run_program("./main").stdout, "cuda|driver|/no/such")

    def test_the_library_finds_what_compiles_for_it(self):
        helper = self.root / "usr/libexec/tuner/tuner-compile"
        self.assertEqual(helper.stat().st_mode & 0o7777, 0o755)
        done = self.run_program(helper, input="")
        self.assertEqual((done.returncode, done.stdout[:1]), (0, "F"), "it answers what is no job")

    def test_pages_and_licence(self):
        for name in ("man/man1/tune.1.gz", "doc/tuner/copyright", "doc/tuner/changelog.gz", "tuner/docs/README.md"):
            self.assertTrue((self.root / "usr/share" / name).is_file(), name)

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_finds_nothing(self):
        done = self.run_program("lintian", "--allow-root", "--fail-on", "error,warning", self.package)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
