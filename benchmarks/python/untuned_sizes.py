#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products x @ w.T in bf16 of tuner.matmul beside torch.mm, which calls cuBLAS, at sizes of which most were never tuned.

The numbers of rows M of `--rows` at the weights `--weights N,K`, and `--random` sizes with each dimension log-uniform. Both are captured in CUDA graphs that go through operands three times as large as the L2 cache; rounds
alternate between them. `ratio` is torch's time divided by tuner's: above 1 tuner is faster. Exits with 1 where results differ.

    PYTHONPATH=python benchmarks/python/untuned_sizes.py --table db/seed/nvidia-h200.json [--measure] [--json FILE]
"""

import argparse
import json
import math
import random
import statistics
import sys

import torch

import tuner
from graphs import captured, time_us

ROUNDS = 10
MOST_SETS = 40
CACHE_BYTES = 3 * (60 << 20)
LARGEST_DIFFERENCE = 2**-6  # of two products rounded to bf16, relative to the largest element


def sizes(options):
    n, k = map(int, options.weights.split(","))
    for m in map(int, options.rows.split(",")):
        yield "rows", (m, n, k)
    chance = random.Random(options.seed)

    def dimension(low, high, multiple):
        return max(multiple, round(math.exp(chance.uniform(math.log(low), math.log(high))) / multiple) * multiple)

    for _ in range(options.random):
        yield "random", (dimension(1, 8192, 1), dimension(64, 16384, 8), dimension(64, 16384, 8))


def measure(dispatcher, size, options):
    m, n, k = size
    numbers = (m, n, k, 1, 0, 1, k, k, n, 4, 0, 0, 0, 0)  # the dimensions of spaces/gemm_tensor.json, the last bf16
    if options.measure:
        dispatcher.prepare("gemm_tensor", [numbers], measure=True)
    one_bytes = 2 * (m * k + k * n + m * n)
    sets = min(MOST_SETS, CACHE_BYTES // one_bytes + 2)
    operands = [(torch.randn((m, k), device="cuda", dtype=torch.bfloat16), torch.randn((n, k), device="cuda", dtype=torch.bfloat16),
                 torch.empty((m, n), device="cuda", dtype=torch.bfloat16)) for _ in range(sets)]
    ours = captured(lambda x, w, out: tuner.matmul(x, w.t(), out, dispatcher=dispatcher), operands)
    found = operands[0][2].clone()
    theirs = captured(lambda x, w, out: torch.mm(x, w.t(), out=out), operands)
    expected = operands[0][2]
    worst = float((found.float() - expected.float()).abs().max() / expected.float().abs().max())
    times = {ours: [], theirs: []}
    for graph in times:
        time_us(graph, sets)
    for i in range(ROUNDS):
        for graph in (ours, theirs)[::1 if i % 2 else -1]:
            times[graph].append(time_us(graph, sets))
    answer = dispatcher.answer("gemm_tensor", numbers)
    return {"size": size, "tuner_us": statistics.median(times[ours]), "torch_us": statistics.median(times[theirs]),
            "ratio": statistics.median(b / a for a, b in zip(times[ours], times[theirs])), "rung": answer.rung,
            "kernel": answer.kernel, "difference": worst}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True, help="dispatch table, as `tune export --format json` writes")
    parser.add_argument("--rows", default="1,2,3,4,6,8,12,16,17,24,32,33,40,48,64,65,80,96,100,128,129,160,192,200,256")
    parser.add_argument("--weights", default="8192,8192", metavar="N,K")
    parser.add_argument("--random", type=int, default=40, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--measure", action="store_true", help="prepare each size by measurement")
    parser.add_argument("--json", help="where the figures go")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    results = {}
    with tuner.Dispatcher(tuner.Table.file(options.table)) as dispatcher:
        print(f"{'size':20} {'tuner us':>9} {'torch us':>9} {'ratio':>6}  rung          kernel")
        for group, size in sizes(options):
            it = measure(dispatcher, size, options)
            results.setdefault(group, []).append(it)
            print(f"{'x'.join(map(str, size)):20} {it['tuner_us']:9.2f} {it['torch_us']:9.2f} {it['ratio']:6.3f}  {it['rung']:13} "
                  f"{it['kernel']}{'  DIFFERS' if it['difference'] > LARGEST_DIFFERENCE else ''}", flush=True)
        differing = sum(it["difference"] > LARGEST_DIFFERENCE for group_results in results.values() for it in group_results)
        for group, group_results in results.items():
            ratios = [it["ratio"] for it in group_results]
            print(f"{group}: geometric mean {statistics.geometric_mean(ratios):.3f}, lowest {min(ratios):.3f}, highest {max(ratios):.3f}, "
                  f"{len(ratios)} sizes")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "chosen_by": "measurement" if options.measure
                       else "expectation", "results": results}, file, indent=1)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
