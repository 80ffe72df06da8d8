# SPDX-License-Identifier: Apache-2.0
"""The recipes of CONTRIBUTING.md, applied to a scratch copy, which is compiled.

Every file that a recipe changes is compiled by itself; with TUNER_ALL_TESTS=1 the program is built, and
what the recipes add is used.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from recipes import RECIPES

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from matrix import ALL  # noqa: E402

BUILD = pathlib.Path(os.environ["TUNER_BUILD"])
COMPILER = os.environ["HOST_COMPILER"]
CUDA_HEADERS = os.environ["CUDA_HEADERS"]  # empty in a build without CUDA
SOURCES = ("CMakeLists.txt", "cmake", "db", "examples", "kernels", "python", "reports", "scripts", "spaces", "tuner")
SIGNS = {
    "format": "space/1", "family": "negate", "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N", "sizes": {"default": [[1000]]}},
    "arguments": [{"name": "N", "type": "int", "value": "N"},
                  {"name": "x", "type": "float*", "count": "N", "fill": "signs"},
                  {"name": "y", "type": "float*", "count": "N", "role": "output"}],
    "check": {"reference": {"kernel": "negate"}, "sizes": [[33]]},
    "kernels": {"negate": {"source": "negate.cu", "entry": "negate", "launch": {"grid": ["ceil_div(N, 64)"], "block": [64]}}}}
# Wrong of every number but 1 and −1.
SOURCE = """__global__ void negate(int N, const float* x, float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < N) y[i] = -1 / x[i];
}
"""
SCALED_ROWS = {
    "format": "space/1", "family": "scale",
    "problem": {"dims": ["M", "N"], "flops": "M*N", "bytes": "8*M*N", "sizes": {"default": [[20, 30]]}},
    "arguments": [{"name": "M", "type": "int", "value": "M"}, {"name": "N", "type": "int", "value": "N"},
                  {"name": "a", "type": "float*", "count": "M*N"}, {"name": "b", "type": "float*", "count": "M"},
                  {"name": "c", "type": "float*", "count": "M*N", "role": "output"}],
    "check": {"reference": {"op": "dgmm", "m": "M", "n": "N", "a": "a", "b": "b", "c": "c"}, "sizes": [[3, 5]]},
    "kernels": {"scale": {"source": "scale.cu", "entry": "scale", "launch": {"grid": ["M"], "block": [32]}}}}
SOURCE_OF_SCALED_ROWS = """__global__ void scale(int M, int N, const float* a, const float* b, float* c) {
  for (int i = threadIdx.x; i < N; i += 32) c[blockIdx.x * N + i] = a[blockIdx.x * N + i] * b[blockIdx.x];
}
"""
SOURCE_OF_E6M1 = """#include <cuda_fp8.h>
__global__ void negate(int N, const fp8_e6m1* x, fp8_e6m1* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < N) y[i] = fp8_e6m1(-1 / (float)x[i]);
}
"""


def section(title):
    """The recipe's text: from its title to an empty line before the next one."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.search(rf"^\*\*{re.escape(title)}\*\* (?:\(.*\) )?†.*?(?=^\*\*|^## )", text, flags=re.M | re.S)
    return found.group(0) if found else ""


class RecipesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.tree = pathlib.Path(scratch.name) / "tuner"
        cls.tree.mkdir()
        for name in SOURCES:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, cls.tree / name)
        for recipe in RECIPES:
            recipe.apply(cls.tree)

    def test_each_names_the_files_that_it_changes(self):
        for recipe in RECIPES:
            with self.subTest(recipe=recipe.title):
                text = section(recipe.title)
                self.assertTrue(text, "CONTRIBUTING.md has no such recipe")
                for path in recipe.added:
                    self.assertIn(path, text)

    def test_what_it_changes_compiles(self):
        changed = sorted({path for recipe in RECIPES for path in recipe.paths()
                          if path.endswith(".cpp") and (CUDA_HEADERS or "/cuda/" not in path)})
        self.assertGreaterEqual(len(changed), 4)

        def compiled(path):
            made = BUILD / pathlib.Path(path).parent  # headers that the build makes
            return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-DFMT_SHARED",
                                   f"-I{self.tree}", f"-I{made}", *(["-isystem", CUDA_HEADERS] if CUDA_HEADERS else []),
                                   self.tree / path], capture_output=True, text=True)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, done in zip(changed, pool.map(compiled, changed)):
                with self.subTest(path=path):
                    self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(ALL, "TUNER_ALL_TESTS=1 builds the program")
    def test_the_program_has_what_they_add(self):
        built = self.tree / "build"
        subprocess.run(["cmake", "-S", self.tree, "-B", built, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DTUNER_UNITY=ON", "-DTUNER_CUDA=OFF", "-DTUNER_TESTS=OFF",
                        "-DTUNER_INSTALL=OFF", "-DTUNER_REPORT_JS=none"], check=True, capture_output=True)
        done = subprocess.run(["cmake", "--build", built, "--target", "tune"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        (self.tree / "negate.json").write_text(json.dumps(SIGNS))
        (self.tree / "negate.cu").write_text(SOURCE)
        tune = built / "tune"
        environment = {**os.environ, "TUNER_DB": str(self.tree / "results.db")}

        def run(*words):
            return subprocess.run([tune, *words], cwd=self.tree, env=environment, capture_output=True, text=True)

        done = run("--space", "negate.json", "--backend", "cpu", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.tree / "scale.json").write_text(json.dumps(SCALED_ROWS))
        (self.tree / "scale.cu").write_text(SOURCE_OF_SCALED_ROWS)
        done = run("--space", "scale.json", "--backend", "cpu", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.tree / "negate.json").write_text(json.dumps(SIGNS).replace("float*", "e6m1*"))
        (self.tree / "negate.cu").write_text(SOURCE_OF_E6M1)
        done = run("--space", "negate.json", "--backend", "cpu", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("devices", "--backend", "cpu")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1), done.stderr)
        self.assertIn("devices", run("--help").stdout)


if __name__ == "__main__":
    unittest.main()
