#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stability: of independent runs over the same space, how many choose the same winner, or one that
the others call a tie with theirs."""

import json
import statistics

import driver

SPACE = driver.ROOT / "spaces" / "gemm.json"
# 64 configurations of gemm_shared around the good ones.
SUBSPACE = ["TILE_M=64,128", "TILE_N=64,128", "TILE_K=8,16", "BLOCK_X=16", "BLOCK_Y=8,16",
            "UNROLL=8,16", "PAD=0", "VEC=1,4"]
QUICK = ["TILE_M=32", "TILE_N=32", "TILE_K=8", "BLOCK_X=8", "BLOCK_Y=4,8", "UNROLL=8", "PAD=0",
         "VEC=1"]


def run(options, seed):
    values = QUICK if options.quick else SUBSPACE
    where = ["--backend", "cpu"] if options.quick else []
    for size in options.size:
        where += ["--size", size]
    chosen = [word for value in values for word in ("--set", value)]
    return driver.tune(options, "--space", SPACE, "--kernel", "gemm_shared", "--seed", seed,
                       "--strategy", "exhaustive", *where, *chosen)


def key(config):
    return json.dumps(config, sort_keys=True)


def main():
    sizes = ["512,512,512", "1024,1024,1024", "2048,2048,2048", "4096,4096,4096"]
    options = driver.arguments(__doc__, runs=10, sizes=sizes, output="stability.json")
    runs = [run(options, seed) for seed in range(options.runs)]
    rows = [("size", "runs", "winners", "same or tied", "spread of time")]
    document = {"benchmark": "stability", "device": runs[0][0], "sizes": []}
    for place, first in enumerate(runs[0][1]):
        mine = [sizes_of_run[place] for _, sizes_of_run in runs]
        winners = [key(one["best"]["config"]) for one in mine]
        ties = [{key(finalist["config"]) for finalist in driver.tied(one)} for one in mine]
        pairs = [winners[i] in ties[j] or winners[i] == winners[j]
                 for i in range(len(mine)) for j in range(len(mine)) if i != j]
        times = [one["best"]["median_ns"] for one in mine]
        spread = max(times) / min(times) - 1
        agreement = statistics.mean(pairs)
        name = ",".join(map(str, first["size"]))
        rows.append((name, len(mine), len(set(winners)), f"{agreement:.0%}", f"{spread:.2%}"))
        document["sizes"].append({"size": name, "winners": winners, "agreement": agreement,
                                  "best_ns": times})
    driver.report(options, document, rows)


if __name__ == "__main__":
    main()
