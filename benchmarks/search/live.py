#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches on a device: how good the best is after 200 evaluations and at the end of the time, for
each strategy, in a space of 318,047 configurations (gemm_wide.json). Every run begins cold: with a
database of its own and no compiled kernels. The runs are interleaved, one for each GPU at a time."""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import sqlite3
import statistics
import subprocess
import sys
import tempfile

SPACE = pathlib.Path(__file__).resolve().parent / "gemm_wide.json"
EVALUATIONS = 200
# For `--quick`: that the benchmark works, on any machine in seconds. Its figures mean nothing.
QUICK = ["--backend", "cpu", "--size", "16,16,16", "--max-evals", "3", "--set", "TILE_M=16,32",
         "--set", "TILE_N=16,32", "--set", "TILE_K=8", "--set", "BLOCK_X=8", "--set", "BLOCK_Y=4,8",
         "--set", "PAD=0,4", "--set", "VEC=1"]


def run(options, directory, strategy, size, seed, gpu):
    """One run: [(evaluations, seconds, time in ns of a new best)], and how many were evaluated."""
    database = pathlib.Path(directory) / f"{strategy}-{size}-{seed}.db"
    where = QUICK if options.quick else ["--size", size, "--max-time", options.max_time, "--no-cache"]
    subprocess.run(
        [options.tune, "--space", SPACE, "--strategy", strategy, "--seed", str(seed),
         "--fresh", "-q", "--jobs", str(options.jobs), "--db", database, *where],
        check=True, stdout=subprocess.DEVNULL, env=os.environ | {"CUDA_VISIBLE_DEVICES": str(gpu)})
    with sqlite3.connect(database) as connection:
        rows = connection.execute(
            "SELECT sequence, elapsed_s, median_ns FROM result ORDER BY sequence").fetchall()
    bests = []
    for sequence, elapsed_s, median_ns in rows:
        if median_ns is not None and (not bests or median_ns < bests[-1][2]):
            bests.append((sequence, elapsed_s, median_ns))
    return database, bests, len(rows)


def best(bests, evaluations=None):
    """The best time of a run, or that after so many evaluations."""
    return min((ns for sequence, _, ns in bests if evaluations is None or sequence <= evaluations),
               default=None)


def run_all(options, directory):
    gpus = queue.SimpleQueue()
    for gpu in range(options.gpus):
        gpus.put(gpu)

    def one(job):
        gpu = gpus.get()
        try:
            return run(options, directory, *job, gpu)
        finally:
            gpus.put(gpu)

    jobs = [(strategy, size, seed) for size, seed, strategy in
            itertools.product(options.size, range(1, options.seeds + 1), options.strategy)]
    with concurrent.futures.ThreadPoolExecutor(options.gpus) as pool:
        return list(zip(jobs, pool.map(one, jobs)))


def spread(times, ideal):
    """The median and the range of times, as multiples of the best ever."""
    ratios = sorted(time / ideal for time in times if time is not None)
    if len(ratios) < len(times):
        return "nothing worked in some"
    return f"{statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--quick", action="store_true", help="a small run each, cpu backend")
    parser.add_argument("--size", action="append", help="a problem size; may be repeated")
    parser.add_argument("--strategy", action="append", help="a strategy; may be repeated")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each strategy at each size")
    parser.add_argument("--max-time", default="60s", help="of each search")
    parser.add_argument("--jobs", type=int, default=15, help="compilers of each run")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs to use side by side")
    parser.add_argument("--db", help="database to add the runs to")
    parser.add_argument("--output", default="live.json", help="JSON file to write")
    options = parser.parse_args()
    options.size = options.size or ["1024,1024,1024", "2048,2048,2048", "4096,4096,4096"]
    options.strategy = options.strategy or ["auto", "random", "genetic"]
    if options.quick:
        options.size, options.seeds, options.jobs = ["16,16,16"], 1, 2

    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        found = run_all(options, directory)
        if options.db:
            subprocess.run([options.tune, "merge", "-q", "--db", options.db,
                            *(database for _, (database, _, _) in found)], check=True)
    document = {"schema": "live-1", "max_time": options.max_time, "runs": [
        {"strategy": strategy, "size": size, "seed": seed, "evaluations": count, "bests": bests}
        for (strategy, size, seed), (_, bests, count) in found]}
    pathlib.Path(options.output).write_text(json.dumps(document) + "\n")

    print(f"{'size':>16} {'strategy':20} {'evaluations':>11}  {f'after {EVALUATIONS}':>22}"
          f"  {f'after {options.max_time}':>22}   (best ever = 1)")
    for size in options.size:
        runs = [each for each in document["runs"] if each["size"] == size]
        ideal = min(best(each["bests"]) for each in runs if each["bests"])
        for strategy in options.strategy:
            mine = [each for each in runs if each["strategy"] == strategy]
            count = statistics.median(each["evaluations"] for each in mine)
            print(f"{size:>16} {strategy:20} {count:>11.0f}"
                  f"  {spread([best(each['bests'], EVALUATIONS) for each in mine], ideal):>22}"
                  f"  {spread([best(each['bests']) for each in mine], ideal):>22}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
