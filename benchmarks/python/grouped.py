#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products of groups of rows with weights of their own in bf16, as of layers of experts, by gemm_grouped beside torch._grouped_mm
and beside torch.mm for each group, which is given the groups' rows on the host.

The sizes are the list `experts` of spaces/gemm_grouped.json. What was not equal to products in float32 is not timed. CUDA graphs go
through copies of the operands, more than the L2 cache holds; each round times all in random order. Ratios are torch's median divided
by tuner's: above 1 tuner is faster. Exits with 1 where results are wrong.

    tune --db grouped.sqlite --space spaces/gemm_grouped.json --kernel gemm_grouped --sizes experts
    PYTHONPATH=python benchmarks/python/grouped.py --db grouped.sqlite [--json FILE]
"""

import argparse
import collections
import datetime
import itertools
import json
import math
import random
import statistics
import subprocess
import sys

import torch

import tuner

FAMILY = "gemm_grouped"
FEWEST_SETS = 4
CACHE_BYTES = 3 * (60 << 20)
MOST_BYTES = 20 << 30


def skewed(groups, rows, seed):
    """Rows of each group where the r-th most popular is chosen in proportion to r^-1.2; some have none."""
    chance = random.Random(seed)
    popularity = [rank**-1.2 for rank in range(1, groups + 1)]
    chance.shuffle(popularity)
    chosen = collections.Counter(chance.choices(range(groups), popularity, k=rows))
    return [chosen[group] for group in range(groups)]


def cases(seed):
    """N, K and the rows of each group."""
    for n, k in ((14336, 4096), (4096, 14336)):
        for rows in (1, 64, 1024):
            yield f"8 groups of {rows}", n, k, [rows] * 8
    yield "128 groups, skewed", 1536, 2048, skewed(128, 2048, seed)


class Operands:
    def __init__(self, n, k, rows):
        def made(make, *shape):
            return make(shape, device="cuda", dtype=torch.bfloat16)

        ends = [0, *itertools.accumulate(rows)]
        self.a, self.b = made(torch.randn, ends[-1], k), made(torch.randn, len(rows), n, k)
        self.c, self.c_by_group = made(torch.empty, ends[-1], n), made(torch.empty, ends[-1], n)
        self.offsets = torch.tensor(ends, device="cuda", dtype=torch.int32)
        self.ends = self.offsets[1:].clone()
        self.groups = [(i, begin, end) for i, (begin, end) in enumerate(zip(ends, ends[1:])) if begin < end]


def by_grouped_mm(it):
    return torch._grouped_mm(it.a, it.b.transpose(-2, -1), offs=it.ends, out_dtype=torch.bfloat16)


def by_loop(it):
    for group, begin, end in it.groups:
        torch.mm(it.a[begin:end], it.b[group].t(), out=it.c_by_group[begin:end])
    return it.c_by_group


def captured(call, sets):
    """A graph of a call for each set, and the results, which it writes."""
    call(sets[0])  # compiles, loads and allocates what a capture may not
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [call(each) for each in sets]
    return graph, results


def errors(graphs, sets, k):
    """By name the largest difference from products in float32, as a part of what rounding to bf16 and another order of sums allow."""
    worst = dict.fromkeys(graphs, 0.0)
    for graph, results in graphs.values():
        for result in results:
            result.fill_(math.nan)
        graph.replay()
    torch.cuda.synchronize()
    for i, it in enumerate(sets):
        for group, begin, end in it.groups:
            expected = it.a[begin:end].float() @ it.b[group].float().t()
            allowed = expected.abs() * 2**-8 + math.sqrt(k) * 2**-6
            for name, (_, results) in graphs.items():
                parts = (results[i][begin:end].float() - expected).abs() / allowed
                worst[name] = max(worst[name], float(parts.nan_to_num(nan=math.inf).max()))
    return worst


def time_us(graph, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()  # so that the next one does not wait for the host
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / count


def measure(dispatcher, case, options, order):
    name, n, k, rows = case
    size = (sum(rows), n, k, len(rows), 1, 0)  # the dimensions of the space file, the last bf16
    dispatcher.prepare(FAMILY, [size])
    answer = dispatcher.answer(FAMILY, size)

    def by_tuner(it):
        dispatcher.launch(FAMILY, size, it.offsets, it.a, it.b, it.c)
        return it.c

    set_bytes = 2 * (sum(rows) * k + len(rows) * n * k + 3 * sum(rows) * n)
    count = max(1, min(MOST_BYTES // set_bytes, max(FEWEST_SETS, CACHE_BYTES // set_bytes + 2)))
    sets = [Operands(n, k, rows) for _ in range(count)]
    graphs = {"tuner": captured(by_tuner, sets), "grouped_mm": captured(by_grouped_mm, sets), "loop": captured(by_loop, sets)}
    result = {"case": name, "m": sum(rows), "n": n, "k": k, "rows": rows, "sets": count, "rung": answer.rung, "kernel": answer.kernel,
              "configuration": answer.configuration, "errors": errors(graphs, sets, k)}
    result["wrong"] = [who for who, error in result["errors"].items() if not error <= 1]
    if result["wrong"]:
        return result
    times = {who: [] for who in graphs}
    for _ in range(options.rounds):
        for who in order.sample(list(graphs), len(graphs)):
            times[who].append(time_us(graphs[who][0], count))
    for who, values in times.items():
        low, median, high = statistics.quantiles(values, n=4)
        result[who] = {"median_us": median, "quartiles_us": [low, high]}
    for who in ("grouped_mm", "loop"):
        result[f"ratio_{who}"] = result[who]["median_us"] / result["tuner"]["median_us"]
    result["tflops"] = 2e-6 * sum(rows) * n * k / result["tuner"]["median_us"]
    return result


def row(it):
    head = f"{it['case']:19} {it['n']:6} {it['k']:6}"
    if it["wrong"]:
        return f"{head}  WRONG: {', '.join(it['wrong'])}  {it['errors']}"

    def timed(who):
        low, high = it[who]["quartiles_us"]
        return f"{it[who]['median_us']:9.2f} [{low:8.2f} {high:8.2f}]"

    return (f"{head} {timed('tuner')} {timed('grouped_mm')} {timed('loop')} {it['ratio_grouped_mm']:10.3f} {it['ratio_loop']:6.3f} "
            f"{it['tflops']:8.1f}  {it['rung']}")


def environment():
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], check=True, capture_output=True,
                            text=True).stdout.split()[0]
    return {"device": torch.cuda.get_device_name(), "driver": driver, "cuda": torch.version.cuda, "torch": torch.__version__,
            "tuner": tuner.__version__, "date": datetime.date.today().isoformat()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    table = parser.add_mutually_exclusive_group(required=True)
    table.add_argument("--db", help="database of `tune`")
    table.add_argument("--table", help="dispatch table, as `tune export --format json` writes")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1, help="of the operands, the skewed rows and the order")
    parser.add_argument("--json", help="where the figures go")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("quartiles need two rounds or more")
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    order = random.Random(options.seed)
    document = {**environment(), "rounds": options.rounds, "seed": options.seed}
    results = document["results"] = []
    print(", ".join(f"{key} {value}" for key, value in document.items() if key != "results"))
    print(f"{'case':19} {'N':>6} {'K':>6} " + " ".join(f"{who + ' us [quartiles]':>29}" for who in ("tuner", "grouped_mm", "loop"))
          + " grouped_mm   loop  TFLOP/s  rung")
    with tuner.Dispatcher(tuner.Table.database(options.db) if options.db else tuner.Table.file(options.table)) as dispatcher:
        for case in cases(options.seed):
            results.append(measure(dispatcher, case, options, order))
            print(row(results[-1]), flush=True)
    for who in ("grouped_mm", "loop"):
        ratios = [it[f"ratio_{who}"] for it in results if not it["wrong"]]
        if ratios:
            document[f"geometric_mean_{who}"] = statistics.geometric_mean(ratios)
            print(f"{who} / tuner: geometric mean {statistics.geometric_mean(ratios):.3f}, lowest {min(ratios):.3f}, "
                  f"highest {max(ratios):.3f}, {len(ratios)} sizes")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
    return 1 if any(it["wrong"] for it in results) else 0


if __name__ == "__main__":
    sys.exit(main())
