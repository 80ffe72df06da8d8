# SPDX-License-Identifier: Apache-2.0
"""What `tune query --format cpp` prints is a file that nvcc compiles, for every shipped kernel of CUDA's."""

import os
import re
import subprocess
import sys
import unittest

from program import PATIENCE, ROOT, ProgramTest

sys.path.insert(0, str(ROOT / "tests" / "support"))
from matrix import part  # noqa: E402

NVCC = os.environ["NVCC"]
HOST_COMPILER = os.environ["HOST_COMPILER"]
SIZES = {"gemm": "16,16,16", "gemm_tensor": "16,16,16", "gemm_wgmma_realigned": "17,17,17",
         "gemm_skinny_mma": "16,16,16,TRANS_B=1", "gemm_skinny_bulk": "16,16,16,TRANS_B=1", "gemm_grouped": "16,16,64",
         "transpose": "16,16", "copy": "16,16", "reduction": "1000", "convolution": "16,16,3", "window_square": "15,15"}
FOLDERS = {"copy": "transpose", "gemm_tensor": "gemm", "gemm_grouped": "gemm"}  # of the sources, where they are another family's
REFERENCE_ONLY = ("gemm_grouped_plain",)  # takes floats where the family's matrices are narrower
ARCHITECTURES = {"gemm_tcgen05": "100a"}  # where it is not 90a
GPU_ONLY = ("gemm_tma", "transpose_tma")  # nothing is tuned without a GPU, so there is nothing to print


class LaunchCodeTest(ProgramTest):
    # Most files are compiled to PTX without optimisation; nvcc's front end reads the host's code, too.
    TO_PTX, TO_OBJECT = ("-ptx", "-Xcicc", "-O0", "-arch=compute_{}"), ("-c", "-gencode", "arch=compute_{0},code=sm_{0}")

    def compile(self, text, folder, architecture="90a", to=TO_PTX):
        file = self.text_file("launch.cu", text)
        options = re.search(r"compile with (.*?)(, link with -lcuda)?$", text.splitlines()[0])
        subprocess.run([NVCC, "-ccbin", HOST_COMPILER, *(word.format(architecture) for word in to), "-Werror", "all-warnings",
                        "-I", str(folder), "-I", str(folder.parent), *(options[1].split() if options else ()),
                        str(file), "-o", str(self.directory / "launch.out")], check=True, timeout=PATIENCE)

    def shipped_kernels(self):
        """[(space file, kernel)] of those that can be tuned here."""
        found = []
        for space in sorted((ROOT / "spaces").glob("*.json")):
            for line in self.tune("space", "check", space).stdout.splitlines():
                kernel = line.split(":")[0]
                if kernel not in GPU_ONLY + REFERENCE_ONLY and " parameters, " in line:
                    found.append((space, kernel))
        self.assertGreaterEqual(len(found), 4 + 8 + 2 + 1 + 3 + 4)
        return found

    def test_every_shipped_kernel(self):
        for space, kernel in part(self.shipped_kernels()):
            size = SIZES.get(kernel, SIZES[space.stem])
            with self.subTest(kernel=kernel):
                self.tune("--space", space, "--kernel", kernel, "--backend", "cpu", "--size", size, "--max-evals", "1", "-q")
                question = ("query", "--kernel", kernel, "--size", size, "--format", "cpp")
                if kernel.startswith("gemm_cpu_"):
                    self.refuse(*question, code=5, says="runs only on the cpu backend")
                    continue
                text = self.tune(*question).stdout
                self.compile(text, ROOT / "kernels" / FOLDERS.get(space.stem, space.stem), ARCHITECTURES.get(kernel, "90a"))

    def test_other_types(self):
        for size in ("16,16,16,TYPE=bf16", "16,16,16,TYPE=s8"):
            with self.subTest(size=size):
                self.tune("--space", ROOT / "spaces/gemm.json", "--kernel", "gemm_naive", "--backend", "cpu", "--size", size,
                          "--max-evals", "1", "-q")
                self.compile(self.tune("query", "--kernel", "gemm_naive", "--size", size, "--format", "cpp").stdout,
                             ROOT / "kernels/gemm")

    def test_a_kernel_of_several_launches(self):
        corpus = ROOT / "tests" / "corpus"
        self.tune("--space", corpus / "scan_in_steps.json", "--kernel", "scan_in_steps", "--backend", "cpu", "--size",
                  "1000", "--max-evals", "1", "-q")
        text = self.tune("query", "--kernel", "scan_in_steps", "--size", "1000", "--format", "cpp").stdout
        self.assertEqual(text.count("<<<"), 4)
        self.compile(text, corpus, to=self.TO_OBJECT)


if __name__ == "__main__":
    unittest.main()
