# SPDX-License-Identifier: Apache-2.0
"""CUDA 12.4, the oldest toolkit that builds the program, has each name of CUDA that its sources use, and so has this toolkit."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = Path(os.environ["CUDA_INCLUDE"])
# Names of CUDA 12.4's headers: each was looked up there when it was added here.
KNOWN = Path(__file__).with_name("cuda_12_4_names.txt")
FOLDERS = ("tuner/backend/cuda", "tuner/cublas", "tuner/preload", "tuner/dispatch")
# CUPTI's range profiler is of 12.6 Update 2: an older toolkit builds no_counters.cpp.
LEFT_OUT = "counters.cpp"
NAME = re.compile(r"\b(?:cu[A-Z]\w*|CU[a-z]\w*|CU_\w+|CUDA_[A-Z]\w*|cuda[A-Z]\w*|cublas(?:Lt)?[A-Z]\w*|CUBLAS\w+|CUDART_\w+|nvrtc[A-Z]\w*|NVRTC_\w+)\b")
# The sources' own names, and names that no header has: variables of the environment, functions of the driver for streams of a thread.
OWN = re.compile(r"CUDA_HOME|CUDA_PATH|CUBLAS_EMULATE_\w+_PRECISION|cu\w+_ptsz")
TYPED = re.compile(r"\bPFN_(\w+)_v(\d+)\b")


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.[ch]pp")):
            if path.name != LEFT_OUT:
                yield path, without_comments(path.read_text())


class CudaNamesTest(unittest.TestCase):
    def test_the_oldest_toolkit_has_each_name(self):
        known = set(KNOWN.read_text().split())
        used = {}
        for path, text in sources():
            for name in set(NAME.findall(text)):
                if not OWN.fullmatch(name):
                    used.setdefault(name, path.relative_to(ROOT))
        self.assertGreater(len(used), 300)
        new = {name: str(path) for name, path in used.items() if name not in known}
        self.assertEqual(new, {}, f"not known to be of CUDA 12.4: look in its headers, then add the name to {KNOWN.name} or do without it")
        self.assertEqual(sorted(known - set(used)), [], f"no longer used: take it from {KNOWN.name}")

    def test_this_toolkit_has_each_name(self):
        words = set()
        for name in ("cuda.h", "cudaTypedefs.h", "cuda_runtime_api.h", "driver_types.h", "library_types.h", "vector_types.h",
                     "cublas_api.h", "cublas_v2.h", "cublasLt.h", "nvrtc.h"):
            words.update(re.findall(r"\w+", (INCLUDE / name).read_text(errors="replace")))
        self.assertEqual(sorted(set(KNOWN.read_text().split()) - words), [])

    def test_the_driver_that_doctor_asks_for_has_each_function(self):
        versions = (ROOT / "tuner/backend/cuda/versions.hpp").read_text()
        oldest = int(re.search(r"kOldestDriver = (\d+);", versions)[1])
        found = {name: int(version) for _, text in sources() for name, version in TYPED.findall(text)}
        self.assertGreater(len(found), 50)
        self.assertEqual(max(found.values()), oldest, "functions of the driver come with their version in PFN_…_v12040")

    def test_cmake_and_the_sources_name_one_oldest_toolkit(self):
        versions = (ROOT / "tuner/backend/cuda/versions.hpp").read_text()
        oldest = int(re.search(r"kOldestToolkit = (\d+);", versions)[1])
        cmake = (ROOT / "cmake/Dependencies.cmake").read_text()
        self.assertIn(f"set(oldest_toolkit {oldest // 1000}.{oldest % 1000 // 10})", cmake)

    def test_an_older_toolkit_is_refused_when_the_build_is_configured(self):
        with tempfile.TemporaryDirectory() as folder:
            toolkit = Path(folder) / "toolkit"
            for name, text in {"include/cuda_runtime.h": "", "lib64/libcudart.so": "",
                               "bin/nvcc": f"#!/bin/sh\necho '#$ TOP={toolkit}'\necho 'release 12.3, V12.3.107'\n"}.items():
                (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
                (toolkit / name).write_text(text)
            (toolkit / "bin/nvcc").chmod(0o700)
            done = subprocess.run(["cmake", "-S", ROOT, "-B", f"{folder}/build", f"-DCUDAToolkit_ROOT={toolkit}", "-DTUNER_TESTS=OFF",
                                   "-DTUNER_REPORT_JS=none"], text=True, capture_output=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(" ".join(done.stderr.split()), r"The CUDA Toolkit \(12\.4 or newer\) is needed: \S+ is of 12\.3\.107\. Install")


if __name__ == "__main__":
    unittest.main()
