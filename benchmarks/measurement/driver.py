# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of this folder share: they drive the program `tune` from outside."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What planted.json needs beside it, and the folder common/ with shared headers.
PLANTED = [HERE / "planted.json", HERE / "gemm_planted.cu", ROOT / "kernels/gemm/gemm_shared.cu"]

# A tie, as tuner/measure/rounds.hpp defines it: the interval of the ratio begins within 1 %.
TIE = 1.01

# For `--quick`: that a benchmark works, on any machine in seconds. Its figures mean nothing.
QUICK_SIZE = "32,32,512"
QUICK = ["--backend", "cpu", "--set", "TILE_M=16", "--set", "TILE_N=16",
         "--set", "TILE_K=8", "--set", "BLOCK_X=8", "--set", "BLOCK_Y=8", "--set", "VEC=1"]
# One good configuration on a GPU, under its eight names.
FULL = ["--set", "TILE_M=128", "--set", "TILE_N=128", "--set", "TILE_K=8", "--set", "BLOCK_X=16",
        "--set", "BLOCK_Y=16", "--set", "VEC=4"]


def arguments(description, **defaults):
    """The options that every benchmark has, parsed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--quick", action="store_true", help="two small runs on the cpu backend")
    parser.add_argument("--runs", type=int, default=defaults["runs"], help="how many runs")
    parser.add_argument("--size", action="append", help="a problem size; may be repeated")
    parser.add_argument("--output", default=defaults["output"], help="JSON file to write")
    options = parser.parse_args()
    options.size = options.size or defaults["sizes"]
    if options.quick:
        options.runs = 2
        options.size = [QUICK_SIZE]
    return options


def tune(options, *command):
    """One run into a database of its own: the sizes' results as `tune --json` gives them."""
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        done = subprocess.run(
            [options.tune, *map(str, command), "--fresh", "--json", "-q", "--db",
             str(pathlib.Path(directory) / "results.db")],
            stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))} ended with {done.returncode}")
    document = json.loads(done.stdout)
    return document["device"], document["kernels"][0]["sizes"]


def planted(options, kernel, aliases, size, seed):
    """One run of a kernel of planted.json under these names: (device, its final)."""
    where = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        for file in PLANTED:
            shutil.copy(file, directory)
        shutil.copytree(ROOT / "kernels/common", pathlib.Path(directory) / "common")
        space = pathlib.Path(directory) / PLANTED[0].name
        device, sizes = tune(options, "--space", space, "--kernel", kernel, "--seed", seed,
                             "--size", size, "--set", "ALIAS=" + ",".join(map(str, aliases)),
                             *where)
    return device, sizes[0]


def finals(options, kernel):
    """`options.runs` finals of a kernel of planted.json at each size: (device, [(size, final)])."""
    aliases = [1, 2, 8] if options.quick else range(1, 9)
    found = []
    device = ""
    for run in range(options.runs):
        for size in options.size:
            device, final = planted(options, kernel, aliases, size, run)
            found.append((size, final))
        print(f"run {run + 1} of {options.runs}", file=sys.stderr)
    return device, found


def candidates(result):
    """The configurations of a final, fastest first; the library is none."""
    return [finalist for finalist in result["finalists"] if finalist["role"] != "library"]


def tied(result):
    """Those of them that are tied with the winner, it among them."""
    return [finalist for finalist in candidates(result) if finalist["ratio_low"] <= TIE]


def report(options, document, rows):
    """Prints a table, its first row the titles, and writes the document."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)))
    pathlib.Path(options.output).write_text(json.dumps(document, indent=1) + "\n")
