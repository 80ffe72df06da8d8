#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much sooner a suite is tuned on all cards of a machine than on one of them, with as many compilers for each card.

Both runs begin with an empty database and an empty kernel cache. The quality of a run is the geometric mean of its ratios to
the library, which the same card has timed in the same rounds.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = {"format": "suite/1", "family": "gemm", "doc": "", "groups": [{"name": "small", "sizes": [[16, 16, 16], [24, 24, 24]]}]}


def every(suite, step):
    """A suite of every STEP-th size of another, so that each of its groups is still there."""
    document = json.loads(pathlib.Path(suite).read_text())
    place = 0
    for group in document["groups"]:
        kept = []
        for size in group["sizes"]:
            if place % step == 0:
                kept.append(size)
            place += 1
        group["sizes"] = kept
    document["groups"] = [group for group in document["groups"] if group["sizes"]]
    return document


def run(options, suite, device, jobs):
    """(seconds, document) of one run."""
    with tempfile.TemporaryDirectory(prefix="tune-benchmark-") as directory:
        sizes = pathlib.Path(directory) / "suite.json"
        sizes.write_text(json.dumps(suite))
        command = [options.tune, "--space", options.space, "--kernel", options.kernel, "--sizes", str(sizes),
                   "--device", device, "--jobs", str(jobs), "--json", "-q", "--db",
                   str(pathlib.Path(directory) / "results.db"), *options.more]
        begin = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": directory})
        seconds = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}")
    return seconds, json.loads(done.stdout)


def quality(document):
    """(sizes with a result, geometric mean of their ratios to the library)."""
    sizes = document["kernels"][0]["sizes"]
    ratios = [size["best"]["ratio_to_library"] for size in sizes
              if size.get("best") and size["best"].get("ratio_to_library")]
    return len(ratios), math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", default=os.environ.get("TUNE", "tune"), help="the program")
    parser.add_argument("--space", default=str(ROOT / "spaces/gemm.json"))
    parser.add_argument("--kernel", default="gemm_tiled")
    parser.add_argument("--suite", default=str(ROOT / "spaces/suites/fp32.json"))
    parser.add_argument("--every", type=int, default=1, help="only every N-th size of the suite")
    parser.add_argument("--cards", type=int, default=2, help="how many cards `--device all` has")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2 - 1),
                        help="compilers for each card")
    parser.add_argument("--output", default="cards_speedup.json", help="JSON file to write")
    parser.add_argument("--quick", action="store_true", help="two small sizes on two simulated devices; their figures mean nothing")
    parser.add_argument("more", nargs="*", help="further options of tune, after --")
    options = parser.parse_args()
    if options.quick:
        os.environ["TUNER_CPU_DEVICES"] = "2"
        options.kernel = "gemm_naive"
        options.more = ["--backend", "cpu", "--max-evals", "1"]

    suite = QUICK if options.quick else every(options.suite, options.every)
    document = {"benchmark": "cards_speedup", "cards": options.cards, "runs": []}
    for device, jobs in (("0", options.jobs), ("all", options.jobs * options.cards)):
        seconds, result = run(options, suite, device, jobs)
        sizes, ratio = quality(result)
        trials = sum(size["evaluated"] for size in result["kernels"][0]["sizes"])
        document["runs"].append({"device": device, "jobs": jobs, "seconds": seconds, "sizes": sizes,
                                 "trials": trials, "ratio_to_library": ratio,
                                 "cards": result["kernels"][0].get("cards")})
        print(f"--device {device:4} --jobs {jobs:3}  {seconds:7.1f} s  {sizes} sizes  {trials} trials  "
              f"{ratio:.4f} × library", flush=True)
    one, several = document["runs"]
    print(f"{one['seconds'] / several['seconds']:.2f} times as fast, quality "
          f"{several['ratio_to_library'] / one['ratio_to_library']:.4f}")
    pathlib.Path(options.output).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
