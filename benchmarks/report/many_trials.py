#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tune report on 324,060 trials: its memory, its processor and wall time, and the processor time in units of what SQLite
alone needs to read all trials, by which machines can be compared."""

import argparse
import contextlib
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
import many_trials  # noqa: E402


def read_s(database):
    """Processor time of reading all trials."""
    with contextlib.closing(sqlite3.connect(database)) as opened:
        start = time.process_time()
        opened.execute("SELECT sum(length(r.message) + length(c.json)), sum(median_ns) "
                       "FROM result r JOIN config c ON c.id = r.config_id").fetchall()
        return time.process_time() - start


def report(tune, database, folder):
    """MiB at most, seconds of the processor, seconds of the wall clock."""
    begin = time.monotonic()
    child = subprocess.Popen([tune, "report", "--db", database, "-o", folder], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"tune report ended with {child.returncode}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        database = pathlib.Path(directory) / "results.db"
        subprocess.run([options.tune, "-q", "--space", ROOT / "spaces/gemm.json", "--kernel", "gemm_naive", "--backend", "cpu",
                        "--size", "16,16,16", "--max-evals", "1", "--db", database], check=True)
        many_trials.fill(database)
        seen = []
        for _ in range(options.runs):
            read = read_s(database)
            mib, cpu_s, wall_s = report(options.tune, database, pathlib.Path(directory) / "pages")
            seen.append((mib, cpu_s, wall_s, cpu_s / read))
    for name, values in zip(("MiB at most", "s of the processor", "s of the wall clock", "reads by SQLite"), zip(*seen)):
        print(f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f}) {name}, {options.runs} runs")


if __name__ == "__main__":
    main()
