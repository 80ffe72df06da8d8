#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A/A test of cards: how far apart the times of one compiled kernel are on the cards of one machine.

Each kernel is timed on the cards in turn, several times; the cubin comes from one cache. Printed: the median of each card's
cold medians, the ratio between the slowest and the fastest card, and the spread of one card's repetitions.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBJECTS = [("gemm", "gemm_tiled", "4096,4096,4096"), ("gemm", "gemm_tma", "8192,8192,8192"),
            ("gemm", "gemm_skinny", "4,8192,8192"), ("transpose", "transpose_shared", "8192,8192"),
            ("convolution", "convolution_tiled", "4096,4096,5"), ("reduction", "reduction_last_block", "67108864")]
QUICK = [("gemm", "gemm_naive", "16,16,16")]


def cold_median(options, space, kernel, size, device, cache):
    """(device, configuration, ns) of a kernel on one card."""
    command = [options.tune, "bench", "--space", str(ROOT / "spaces" / f"{space}.json"), "--kernel", kernel, "--size", size,
               "--backend", options.backend, "--device", str(device), "--config", options.config, "--rounds",
               str(options.rounds), "--json", "-q"]
    if options.db:
        command += ["--db", options.db]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "XDG_CACHE_HOME": cache})
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}")
    document = json.loads(done.stdout)
    contender = next(each for each in document["contenders"] if each["role"] != "library")
    return document["device"], contender["config"], contender["median_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--cards", type=int, default=2)
    parser.add_argument("--config", default="default", help="`best`, with --db, or `default`")
    parser.add_argument("--db", help="database of the best configurations")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="one small kernel; its figures mean nothing")
    parser.add_argument("--output", default="cards_agreement.json", help="JSON file to write")
    options = parser.parse_args()
    if options.quick:
        os.environ["TUNER_CPU_DEVICES"] = "2"
        options.backend, options.rounds, options.repetitions = "cpu", 6, 1

    document = {"benchmark": "cards_agreement", "kernels": []}
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as cache:
        for subject in QUICK if options.quick else SUBJECTS:
            times = {card: [] for card in range(options.cards)}
            for _ in range(options.repetitions):
                for card, measured in times.items():
                    device, config, median = cold_median(options, *subject, card, cache)
                    measured.append(median)
            medians = [statistics.median(measured) for measured in times.values()]
            spread = max(max(measured) / min(measured) for measured in times.values())
            document["kernels"].append({"kernel": subject[1], "size": subject[2], "device": device, "config": config,
                                        "median_ns": times, "apart": max(medians) / min(medians), "spread": spread})
            print(f"{subject[1]:22} {subject[2]:16} {' '.join(f'{median / 1e3:10.2f} us' for median in medians)}  "
                  f"apart ×{max(medians) / min(medians):.4f}  one card's repetitions ×{spread:.4f}", flush=True)
    pathlib.Path(options.output).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
