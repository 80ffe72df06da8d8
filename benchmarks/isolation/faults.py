#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults: what a candidate that hangs or crashes costs beyond its deadline, and how soon the process
that drives the device is at work again."""

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACE = ROOT / "tests" / "mutants" / "mutants.json"
DEADLINE_S = 2
FAULTS = {"infinite_loop": "timeout", "trap": "crashed", "far_out_of_bounds": "crashed"}
OTHER = "gives_a_constant"  # comes before the fault or after it


def run(options, fault, seed):
    """One run of `none`, the fault and another: (device, [(mutant, outcome, seconds since the run
    began, seconds of work)]), in the order of the seed."""
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        database = pathlib.Path(directory) / "results.db"
        subprocess.run(
            [options.tune, "--space", SPACE, "--backend", options.backend, "--db", database, "-q",
             "--fresh", "--seed", str(seed), "--launch-timeout", f"{DEADLINE_S}s", "--set", f"MUTANT=none,{fault},{OTHER}"],
            check=True, stdout=subprocess.DEVNULL)
        with sqlite3.connect(database) as connection:
            rows = connection.execute(
                "SELECT config.json, outcome, elapsed_s, (verify_ms + measure_ms) / 1e3 FROM result "
                "JOIN config ON config.id = config_id ORDER BY sequence").fetchall()
            device = connection.execute("SELECT name FROM device").fetchone()[0]
    return device, [(json.loads(config)["MUTANT"], *rest) for config, *rest in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one run each, with a cold cache; its figures mean nothing")
    parser.add_argument("--output", default="faults.json", help="JSON file to write")
    options = parser.parse_args()
    found = {fault: {"cost_s": [], "respawn_s": []} for fault in FAULTS}
    if options.quick:
        options.runs = 1
    else:
        for fault in FAULTS:
            run(options, fault, 0)  # leaves its kernels in the cache: compiling is not the question
    for seed in range(options.runs):
        for fault, outcome in FAULTS.items():
            device, rows = run(options, fault, seed)
            for before, here in zip(rows, rows[1:]):
                gap = here[2] - before[2]
                if here[0] == fault:
                    assert here[1] == outcome, here
                    deadline = DEADLINE_S if outcome == "timeout" else 0
                    found[fault]["cost_s"].append(gap - deadline)
                if before[0] == fault:
                    found[fault]["respawn_s"].append(gap - here[3])
    print(f"{'fault':18} {'runs':>4} {'beyond its deadline':>20} {'until the next works':>21}")
    for fault, seconds in found.items():
        cost, respawn = (
            f"{statistics.median(seconds[of]):.2f} s (≤ {max(seconds[of]):.2f})" if seconds[of] else "–"
            for of in ("cost_s", "respawn_s"))
        print(f"{fault:18} {options.runs:4} {cost:>20} {respawn:>21}")
    document = {"benchmark": "faults", "device": device, "deadline_s": DEADLINE_S, "faults": found}
    pathlib.Path(options.output).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
