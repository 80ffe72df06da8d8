# SPDX-License-Identifier: Apache-2.0
"""What the program `tune` finds on the cpu backend, for the tests of this folder."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tune(database, *arguments):
    return subprocess.run([os.environ["TUNE"], *arguments], check=True, capture_output=True, text=True, timeout=150,
                          env={**os.environ, "TUNER_DB": str(database)}).stdout


def gemm_table(folder, *sizes, family="gemm", kernel="gemm_naive"):
    """The text of a table of a family in which kernels are twice as fast as the library at these sizes."""
    database = folder / f"{family}.db"
    for size in sizes:
        tune(database, "--space", ROOT / f"spaces/{family}.json", "--kernel", kernel, "--size", size, "--backend",
             "cpu", "--max-evals", "1", "-q")
    table = tune(database, "export", "--format", "json", "--family", family)
    return re.sub(r'("ratio_to_library(_tuned)?":)[^,]+', r'\g<1>2', table)
