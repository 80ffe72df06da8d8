#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sandbox: what it costs a run on the cpu backend, by alternating runs with and without it, each compiling its candidates
anew: wall time, and user and system CPU time of the program with its children, of a candidate. And, which the noise of
whole runs hides, the CPU time of becoming a confined compiler, which each candidate costs once, by 200 starts."""

import argparse
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(options, sandbox, seed):
    """Seconds of wall time and of CPU time of a candidate."""
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        database = pathlib.Path(directory) / "results.db"
        environment = os.environ | ({"TUNER_SANDBOX": "off"} if sandbox == "off" else {})
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([options.tune, "--space", ROOT / "examples/saxpy/saxpy.json", "--kernel", "saxpy", "--size", "100000",
                        "--backend", "cpu", "--db", database, "--fresh", "--no-cache", "--jobs", "1", "-q", "--seed", str(seed),
                        "--max-evals", str(options.candidates)],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
        wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        shown = subprocess.run([options.tune, "runs", "show", "--json", "--db", database], check=True, text=True, capture_output=True)
        candidates = sum(json.loads(shown.stdout)["outcomes"].values())
    return wall / candidates, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / candidates


def start_s(command):
    """CPU time of starting a program, the median of 200."""
    times = []
    for _ in range(200):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def median_and_interval(values):
    """The median, and order statistics that contain that of the population in 95 % of cases."""
    values, n = sorted(values), len(values)
    below = 0.0  # the probability that at most so many values are below it
    low = 0
    while low < n // 2 and (below := below + math.comb(n, low) / 2**n) <= 0.025:
        low += 1
    low = max(0, low - 1)
    return statistics.median(values), values[low], values[n - 1 - low]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--candidates", type=int, default=24, help="of each run")
    options = parser.parse_args()
    _, candidate_s = run(options, "on", 0)
    added_s = start_s([options.tune, "worker", "confined", "/usr/include", "/bin/true"]) - start_s(["/bin/true"])
    print(f"becoming a confined compiler: {1e3 * added_s:.2f} ms of CPU time, {added_s / candidate_s:.2%} of a candidate's")
    ratios = []
    for seed in range(options.pairs):
        order = ("on", "off") if seed % 2 == 0 else ("off", "on")
        times = {sandbox: run(options, sandbox, seed) for sandbox in order}
        ratios.append([on / off for on, off in zip(times["on"], times["off"])])
    for name, column in zip(("wall time", "CPU time"), zip(*ratios)):
        median, low, high = median_and_interval(column)
        print(f"{name} of a candidate, with the sandbox to without: {median:.4f} (95 % interval {low:.4f} to {high:.4f}), "
              f"{len(column)} pairs")


if __name__ == "__main__":
    main()
