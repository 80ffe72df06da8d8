# SPDX-License-Identifier: Apache-2.0
"""The wheel with the program: installed into an empty virtual environment it tunes and launches, without anything else."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The commands of the README.
INSTALL, TUNE = re.findall(r"^    ((?:pip|python3) .*)$", (ROOT / "README.md").read_text(), re.M)
USED = f"""
import numpy, runpy, tuner
k = runpy.run_path({TUNE.split()[1]!r})["k"]
x = numpy.arange(1000, dtype="f4")
y = numpy.ones(1000, "f4")
k(1000, 2.0, x, y)
numpy.testing.assert_array_equal(y, 2 * x + 1)
eye = numpy.eye(3, dtype="f4")
numpy.testing.assert_array_equal(tuner.matmul(eye, 2 * eye), 2 * eye)
print(tuner.__version__, tuner.__file__, k.best().size)
"""


class WheelProgramTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name).resolve()
        packed = subprocess.run([sys.executable, ROOT / "scripts/pack_wheel.py", os.environ["BUILD"], cls.path], check=True, text=True,
                                stdout=subprocess.PIPE)
        cls.wheel = pathlib.Path(packed.stdout.strip())
        cls.venv = cls.path / "venv"
        # NumPy is the system's: no network is needed.
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", cls.venv], check=True)
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": str(cls.path / "home"), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        cls.run_in_venv("python", "-m", "pip", "install", "-q", cls.wheel)
        [cls.prefix] = cls.venv.glob("lib/python3*/site-packages/tuner/prefix")

    def test_the_readme_names_the_wheel(self):
        self.assertEqual(INSTALL.split()[-1], self.wheel.name)

    @classmethod
    def run_in_venv(cls, program, *arguments, check=True, cwd=ROOT, **environment):
        return subprocess.run([cls.venv / "bin" / program, *arguments], check=check, text=True, capture_output=True, cwd=cwd,
                              env={**cls.environment, **environment})

    def test_a_kernel_is_tuned_and_launched(self):
        done = self.run_in_venv("python", "-c", USED, check=False)
        self.assertRegex(done.stdout, rf"\d+\.\d+\.\d+ {self.venv}/lib/.*/tuner/__init__.py {{'N': \d+}}", done.stderr)

    def test_a_folder_may_be_the_target(self):
        target = self.path / "target"
        self.run_in_venv("python", "-m", "pip", "install", "-q", "--no-deps", "--target", target, self.wheel)
        done = self.run_in_venv("python", "-c", "import tuner; print(tuner.__file__, tuner.Dispatcher(tuner.Table.empty(), backend='cpu').backend)",
                                PYTHONPATH=str(target))
        self.assertEqual(done.stdout, f"{target}/tuner/__init__.py cpu\n")
        done = self.run_in_venv(target / "bin/tune", "--version", PYTHONPATH=str(target))
        self.assertRegex(done.stdout, r"^tune \d")

    def test_a_missing_compiler_is_named(self):
        done = self.run_in_venv("python", *TUNE.split()[1:], check=False, PATH=str(self.venv / "bin"), HOME=str(self.path / "other"))
        self.assertRegex(done.stderr, "tuner.Error: the cpu backend needs a C\\+\\+ compiler and found none: `apt-get install g")

    def run_without_blas(self, *arguments):
        """In a namespace in which the folder of OpenBLAS is empty."""
        (self.path / "empty").mkdir(exist_ok=True)
        [library, *_] = [line.split()[-1] for line in subprocess.run(["/sbin/ldconfig", "-p"], check=True, text=True, capture_output=True).stdout.splitlines()
                         if "libopenblas.so.0 " in line]
        hidden = 'mount --bind "$0" "$1" && shift && exec "$@"'
        command = ["unshare", "-rm", "bash", "-c", hidden, self.path / "empty", pathlib.Path(library).resolve().parent, self.prefix / "bin/tune", *arguments]
        return subprocess.run(command, text=True, capture_output=True, cwd=ROOT, env=self.environment)

    @unittest.skipIf(subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode, "no namespaces of users")
    def test_only_products_need_a_blas(self):
        short = ("--backend", "cpu", "--max-evals", "1", "--db", self.path / "blas.db")
        done = self.run_without_blas("--space", "examples/saxpy/saxpy.json", "--kernel", "saxpy", "--size", "1000", *short)
        self.assertRegex(done.stdout, r"(?s)1000 .*BLOCK=", done.stderr)
        done = self.run_without_blas("--space", "spaces/gemm.json", "--kernel", "gemm_naive", "--size", "16,16,16", *short)
        self.assertRegex(done.stderr, "apt-get install libopenblas0")

    def test_the_program_finds_what_comes_with_it(self):
        self.assertRegex(self.run_in_venv("tune", "--version").stdout, r"^tune \d")
        answer = self.run_in_venv("tune", "query", "--family", "gemm", "--device", "NVIDIA H200", "--size", "1024,1024,1024", "--explain")
        self.assertRegex(answer.stdout, r"(?s)table: shipped.*gemm_tma is chosen")
        plan = self.run_in_venv("tune", "--kernel", "gemm_shared", "--space", self.prefix / "share/tuner/spaces/gemm.json", "--size", "96,96,96",
                                "--backend", "cpu", "--dry-run", cwd=self.path)
        self.assertIn("gemm_shared", plan.stdout)
        self.assertTrue((self.venv / "share/man/man1/tune.1").exists())

    def test_a_file_needs_no_library_but_the_c_library(self):
        glibc = re.fullmatch(r"tuner-[0-9.]+-py3-none-manylinux_2_(\d+)_\w+\.whl", self.wheel.name)
        self.assertLessEqual(int(glibc[1]), 35, "more than Ubuntu 22.04 and Debian 12 have")
        files = [path for folder in ("bin", "lib", "libexec") for path in (self.prefix / folder).rglob("*") if path.is_file()]
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            versions = subprocess.run(["objdump", "-T", file], check=True, text=True, capture_output=True).stdout
            self.assertNotIn("GLIBCXX", versions)
            for minor in re.findall(r"GLIBC_2\.(\d+)\)", versions):
                self.assertLessEqual(int(minor), int(glibc[1]), file)

    def test_the_list_of_contents_is_that_of_its_files(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            [sbom] = [name for name in wheel.namelist() if name.endswith("tuner.spdx.json")]
            document = wheel.read(sbom).decode()
        self.assertEqual(document.count('"relatedSpdxElement": "SPDXRef-libstdc--"'), document.count('"DESCRIBES"'))


if __name__ == "__main__":
    unittest.main()
