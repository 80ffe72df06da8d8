#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products x @ w.T of tuner.matmul beside PyTorch's (mm, _int_mm, _scaled_mm), which call cuBLAS, and the algorithms of cublasLt, at sizes of which most were never tuned.

Sizes: the numbers of rows M of `--rows` at the weights `--weights N,K`; `--random` sizes with each dimension log-uniform; `--models` projections of language models
that no suite of this repository has (projections.py), M log-uniform. All are captured in CUDA graphs that go through operands three times as large as the L2 cache; rounds
alternate between them. `ratio` is torch's time divided by tuner's, `to best` the shortest of cublasLt's (`--algorithms` proposals at most) and torch's: above 1 tuner is
faster. `ms` is what the choice took. Choices are made anew: those in the folder of `--cache` are removed first, compiled kernels stay there. Exits with 1 where
results differ.

    PYTHONPATH=python benchmarks/python/untuned_sizes.py --table db/seed/nvidia-h200.json --cache /tmp/cache [--measure] [--json FILE]
"""

import argparse
import dataclasses
import functools
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


@dataclasses.dataclass(frozen=True)
class Type:
    """Of the products that are compared."""

    operands: torch.dtype
    result: torch.dtype
    family: str
    place: int  # in the family's dimension TYPE
    allowed: float  # difference beside the largest element
    least_rows: int = 1  # that PyTorch takes
    has_algorithms: bool = False


TYPES = {"fp32": Type(torch.float32, torch.float32, "gemm", 0, 2**-16, has_algorithms=True),
         "bf16": Type(torch.bfloat16, torch.bfloat16, "gemm_tensor", 0, 2**-6, has_algorithms=True),
         "f16": Type(torch.float16, torch.float16, "gemm_tensor", 1, 2**-6),
         "tf32": Type(torch.float32, torch.float32, "gemm_tensor", 3, 2**-8),
         "e4m3": Type(torch.float8_e4m3fn, torch.bfloat16, "gemm_tensor", 4, 2**-6),
         "s8": Type(torch.int8, torch.int32, "gemm_tensor", 6, 0, least_rows=17)}


def sizes(options):
    n, k = map(int, options.weights.split(","))
    for m in map(int, filter(None, options.rows.split(","))):
        yield "rows", (m, n, k)
    chance = random.Random(options.seed)

    def dimension(low, high, multiple):
        return max(multiple, round(math.exp(chance.uniform(math.log(low), math.log(high))) / multiple) * multiple)

    for _ in range(options.random):
        yield "random", (dimension(TYPES[options.type].least_rows, 8192, 1), dimension(64, 16384, 8), dimension(64, 16384, 8))
    for m, n, k in projections.draw(options.models, options.seed):
        yield "models", (max(m, TYPES[options.type].least_rows), n, k)


def numbers(size, kind):
    """In all dimensions of the family."""
    m, n, k = size
    behind = (4, kind.place) if kind.family == "gemm" else (4, 0, 0, 0, kind.place)
    return m, n, k, 1, 0, 1, k, k, n, *behind


@functools.cache
def scale():
    return torch.ones((), device="cuda")


def multiply_by_torch(x, w, out):
    if x.dtype is torch.int8:
        return torch._int_mm(x, w.t(), out=out)
    if x.dtype is torch.float8_e4m3fn:
        return torch._scaled_mm(x, w.t(), scale(), scale(), out_dtype=out.dtype, out=out)
    return torch.mm(x, w.t(), out=out)


def random_matrix(shape, dtype):
    if dtype is torch.int8:
        return torch.randint(-128, 128, shape, device="cuda", dtype=dtype)
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)


def prepare(dispatcher, all_sizes, options):
    """Milliseconds for each size."""
    kind = TYPES[options.type]
    if options.together:
        begin = time.perf_counter()
        dispatcher.prepare(kind.family, [numbers(size, kind) for size in all_sizes], measure=options.measure)
        return [1e3 * (time.perf_counter() - begin) / len(all_sizes)] * len(all_sizes)
    times = []
    for size in all_sizes:
        begin = time.perf_counter()
        dispatcher.prepare(kind.family, [numbers(size, kind)], measure=options.measure)
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def operands_of(size, kind):
    m, n, k = size
    one_bytes = kind.operands.itemsize * (m * k + k * n) + kind.result.itemsize * m * n
    sets = min(MOST_SETS, CACHE_BYTES // one_bytes + 2)
    return [(random_matrix((m, k), kind.operands), random_matrix((n, k), kind.operands),
             torch.empty((m, n), device="cuda", dtype=kind.result)) for _ in range(sets)]


def long_enough(operands):
    """The operands again and again, as many calls as a graph needs."""
    graph = captured(multiply_by_torch, operands)
    time_us(graph, len(operands))
    each_us = time_us(graph, len(operands))
    times = min(math.ceil(GRAPH_US / (each_us * len(operands))), MOST_CALLS // len(operands))
    return operands * max(times, 1)


def best_of_library(library, size, operands, options):
    """The shortest time in us of cublasLt's algorithms, and of which."""
    graphs = []
    for multiply in library.products(*size, TYPES[options.type].operands, options.algorithms):
        try:
            graphs.append(captured(multiply, operands))
        except RuntimeError:
            continue  # proposed, but not taken
    times = [min(time_us(graph, len(operands)) for _ in range(ALGORITHM_ROUNDS)) for graph in graphs]
    return graphs[times.index(min(times))] if times else None


def measure(dispatcher, library, size, options):
    kind = TYPES[options.type]
    operands = long_enough(operands_of(size, kind))
    ours = captured(lambda x, w, out: tuner.matmul(x, w.t(), out, dispatcher=dispatcher, allow_tf32=options.type == "tf32"), operands)
    ours.replay()
    found = operands[0][2].clone()
    theirs = captured(multiply_by_torch, operands)
    theirs.replay()
    expected = operands[0][2]
    worst = float((found.float() - expected.float()).abs().max() / expected.float().abs().max())
    graphs = [ours, theirs]
    best = best_of_library(library, size, operands, options) if library else None
    graphs += [best] if best else []
    times = {graph: [] for graph in graphs}
    for graph in graphs:
        time_us(graph, len(operands))
    for i in range(ROUNDS):
        for graph in graphs[::1 if i % 2 else -1]:
            times[graph].append(time_us(graph, len(operands)))
    answer = dispatcher.answer(kind.family, numbers(size, kind))
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
    parser.add_argument("--algorithms", type=int, default=16, metavar="COUNT", help="of cublasLt, in bf16 and fp32; 0: none")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder of compiled kernels; choices in it are removed")
    parser.add_argument("--json", help="where the figures go")
    return parser.parse_args()


def run(dispatcher, options):
    by_group, all_sizes = {}, list(sizes(options))
    library = CublasLt() if options.algorithms and TYPES[options.type].has_algorithms else None
    took = prepare(dispatcher, [size for _, size in all_sizes], options)
    print(f"{'size':20} {'tuner us':>9} {'torch us':>9} {'ratio':>6} {'to best':>7} {'ms':>7}  rung          kernel")
    for (group, size), ms in zip(all_sizes, took):
        it = {**measure(dispatcher, library, size, options), "prepare_ms": ms}
        by_group.setdefault(group, []).append(it)
        print(f"{'x'.join(map(str, size)):20} {it['tuner_us']:9.2f} {it['torch_us']:9.2f} {it['ratio']:6.3f} {it['to_best']:7.3f} {ms:7.1f}  "
              f"{it['rung']:13} {it['kernel']}{'  DIFFERS' if it['difference'] > TYPES[options.type].allowed else ''}", flush=True)
        torch.cuda.empty_cache()
    return by_group, took


def main():
    options = parse()
    shutil.rmtree(options.cache / "tables", ignore_errors=True)
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = options.type == "tf32"
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
    differing = sum(it["difference"] > TYPES[options.type].allowed for results in by_group.values() for it in results)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
