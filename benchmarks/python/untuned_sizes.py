#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products x @ w.T of tuner.matmul beside torch.mm, which calls cuBLAS, and the algorithms of cublasLt, at sizes of which most were never tuned.

Sizes: the numbers of rows M of `--rows` at the weights `--weights N,K`; `--random` sizes with each dimension log-uniform; `--models` projections of language models
that no suite of this repository has (projections.py), M log-uniform. All are captured in CUDA graphs that go through operands three times as large as the L2 cache; rounds
alternate between them. `ratio` is torch's time divided by tuner's, `to best` the shortest of cublasLt's (`--algorithms` proposals at most) and torch's: above 1 tuner is
faster. `ms` is what the choice took. Choices are made anew: those in the folder of `--cache` are removed first, compiled kernels stay there. Exits with 1 where
results differ.

    PYTHONPATH=python benchmarks/python/untuned_sizes.py --table db/seed/nvidia-h200.json --cache /tmp/cache [--measure] [--json FILE]
"""

import argparse
import json
import math
import pathlib
import random
import shutil
import statistics
import sys
import time

import torch

import projections
import tuner
from cublas_lt import CublasLt
from graphs import captured, time_us

ROUNDS = 10
ALGORITHM_ROUNDS = 3
MOST_SETS = 40
CACHE_BYTES = 3 * (60 << 20)
GRAPH_US = 1500  # what a graph takes at least, so that its own launch hardly counts
MOST_CALLS = 400
TYPES = {"bf16": (torch.bfloat16, "gemm_tensor", 2**-6), "fp32": (torch.float32, "gemm", 2**-16)}


def sizes(options):
    n, k = map(int, options.weights.split(","))
    for m in map(int, filter(None, options.rows.split(","))):
        yield "rows", (m, n, k)
    chance = random.Random(options.seed)

    def dimension(low, high, multiple):
        return max(multiple, round(math.exp(chance.uniform(math.log(low), math.log(high))) / multiple) * multiple)

    for _ in range(options.random):
        yield "random", (dimension(1, 8192, 1), dimension(64, 16384, 8), dimension(64, 16384, 8))
    for size in projections.draw(options.models, options.seed):
        yield "models", size


def numbers(size):
    """The dimensions of the families up to LDC; those behind have their defaults."""
    m, n, k = size
    return m, n, k, 1, 0, 1, k, k, n


def prepare(dispatcher, all_sizes, options):
    """Milliseconds for each size."""
    family = TYPES[options.type][1]
    if options.together:
        begin = time.perf_counter()
        dispatcher.prepare(family, [numbers(size) for size in all_sizes], measure=options.measure)
        return [1e3 * (time.perf_counter() - begin) / len(all_sizes)] * len(all_sizes)
    times = []
    for size in all_sizes:
        begin = time.perf_counter()
        dispatcher.prepare(family, [numbers(size)], measure=options.measure)
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def operands_of(size, dtype):
    m, n, k = size
    one_bytes = dtype.itemsize * (m * k + k * n + m * n)
    sets = min(MOST_SETS, CACHE_BYTES // one_bytes + 2)
    return [(torch.randn((m, k), device="cuda", dtype=dtype), torch.randn((n, k), device="cuda", dtype=dtype),
             torch.empty((m, n), device="cuda", dtype=dtype)) for _ in range(sets)]


def long_enough(operands):
    """The operands again and again, as many calls as a graph needs."""
    graph = captured(lambda x, w, out: torch.mm(x, w.t(), out=out), operands)
    time_us(graph, len(operands))
    each_us = time_us(graph, len(operands))
    times = min(math.ceil(GRAPH_US / (each_us * len(operands))), MOST_CALLS // len(operands))
    return operands * max(times, 1)


def best_of_library(library, size, operands, options):
    """The shortest time in us of cublasLt's algorithms, and of which."""
    graphs = []
    for multiply in library.products(*size, TYPES[options.type][0], options.algorithms):
        try:
            graphs.append(captured(multiply, operands))
        except RuntimeError:
            continue  # proposed, but not taken
    times = [min(time_us(graph, len(operands)) for _ in range(ALGORITHM_ROUNDS)) for graph in graphs]
    return graphs[times.index(min(times))] if times else None


def measure(dispatcher, library, size, options):
    dtype, family, _ = TYPES[options.type]
    operands = long_enough(operands_of(size, dtype))
    ours = captured(lambda x, w, out: tuner.matmul(x, w.t(), out, dispatcher=dispatcher), operands)
    ours.replay()
    found = operands[0][2].clone()
    theirs = captured(lambda x, w, out: torch.mm(x, w.t(), out=out), operands)
    theirs.replay()
    expected = operands[0][2]
    worst = float((found.float() - expected.float()).abs().max() / expected.float().abs().max())
    graphs = [ours, theirs]
    best = best_of_library(library, size, operands, options) if options.algorithms else None
    graphs += [best] if best else []
    times = {graph: [] for graph in graphs}
    for graph in graphs:
        time_us(graph, len(operands))
    for i in range(ROUNDS):
        for graph in graphs[::1 if i % 2 else -1]:
            times[graph].append(time_us(graph, len(operands)))
    answer = dispatcher.answer(family, numbers(size))
    measured = [line for line in answer.explanation.splitlines() if line.startswith(("measured", "side by side"))]
    ratio = statistics.median(b / a for a, b in zip(times[ours], times[theirs]))
    to_best = min(ratio, statistics.median(b / a for a, b in zip(times[ours], times[best]))) if best else ratio
    return {"size": size, "tuner_us": statistics.median(times[ours]), "torch_us": statistics.median(times[theirs]), "ratio": ratio,
            "to_best": to_best, "rung": answer.rung, "kernel": answer.kernel, "difference": worst, "measured": measured}


def summary(name, results):
    for key, beside in (("ratio", "cuBLAS"), ("to_best", "the best")):
        ratios = [it[key] for it in results]
        worst = min(results, key=lambda it: it[key])
        print(f"{name:16} to {beside:8} geometric mean {statistics.geometric_mean(ratios):.3f}, worst {min(ratios):.3f} at "
              f"{'x'.join(map(str, worst['size']))}, highest {max(ratios):.3f}, {len(ratios)} sizes")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True, help="dispatch table, as `tune export --format json` writes")
    parser.add_argument("--type", choices=TYPES, default="bf16")
    parser.add_argument("--rows", default="", metavar="M,...", help="e.g. 1,16,96,200")
    parser.add_argument("--weights", default="8192,8192", metavar="N,K", help="with --rows")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    parser.add_argument("--models", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--measure", action="store_true", help="prepare each size by measurement")
    parser.add_argument("--together", action="store_true", help="prepare all sizes by one call")
    parser.add_argument("--algorithms", type=int, default=16, metavar="COUNT", help="of cublasLt; 0: none")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder of compiled kernels; choices in it are removed")
    parser.add_argument("--json", help="where the figures go")
    return parser.parse_args()


def run(dispatcher, options):
    by_group, all_sizes = {}, list(sizes(options))
    library = CublasLt() if options.algorithms else None
    took = prepare(dispatcher, [size for _, size in all_sizes], options)
    print(f"{'size':20} {'tuner us':>9} {'torch us':>9} {'ratio':>6} {'to best':>7} {'ms':>7}  rung          kernel")
    for (group, size), ms in zip(all_sizes, took):
        it = {**measure(dispatcher, library, size, options), "prepare_ms": ms}
        by_group.setdefault(group, []).append(it)
        print(f"{'x'.join(map(str, size)):20} {it['tuner_us']:9.2f} {it['torch_us']:9.2f} {it['ratio']:6.3f} {it['to_best']:7.3f} {ms:7.1f}  "
              f"{it['rung']:13} {it['kernel']}{'  DIFFERS' if it['difference'] > TYPES[options.type][2] else ''}", flush=True)
        torch.cuda.empty_cache()
    return by_group, took


def main():
    options = parse()
    shutil.rmtree(options.cache / "tables", ignore_errors=True)
    torch.manual_seed(options.seed)
    with tuner.Dispatcher(tuner.Table.file(options.table), cache=options.cache) as dispatcher:
        by_group, took = run(dispatcher, options)
    for group, results in by_group.items():
        summary(group, results)
        for name, _ in projections.CLASSES:
            of_class = [it for it in results if projections.row_class(it["size"][0]) == name]
            if of_class:
                summary(f"  M {name}", of_class)
    print(f"preparation: median {statistics.median(took):.1f} ms, longest {max(took):.1f} ms, together {sum(took) / 1e3:.2f} s")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "type": options.type, "seed": options.seed,
                       "chosen_by": "measurement" if options.measure else "expectation", "results": by_group}, file, indent=1)
    differing = sum(it["difference"] > TYPES[options.type][2] for results in by_group.values() for it in results)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
