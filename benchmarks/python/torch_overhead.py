#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call of torch.mm, addmm and bmm costs with tuner.torch beside aten alone, on a GPU.

Rounds alternate between the two. `host` is the time of a call until it returns, of many in a row that are too
few to fill the queue; `device` the time by CUDA events around ten calls. Prints JSON lines, then a table.

    PYTHONPATH=python benchmarks/python/torch_overhead.py [ROUNDS]
"""

import json
import statistics
import sys
import time

import torch

import tuner

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15


def matrices(dtype, *shapes):
    return [torch.randn(shape, device="cuda", dtype=dtype) for shape in shapes]


def cases():
    f32, bf16 = torch.float32, torch.bfloat16
    for n in (128, 256, 512, 1024, 2048, 4096):
        yield f"mm {n}", torch.mm, matrices(f32, (n, n), (n, n))
    yield "mm 2048x4096x1024, b transposed", lambda a, b: torch.mm(a, b.t()), matrices(f32, (2048, 1024), (4096, 1024))
    yield "addmm 256", torch.addmm, matrices(f32, (256, 256), (256, 256), (256, 256))
    yield "addmm 256, bias", torch.addmm, matrices(f32, (256,), (256, 256), (256, 256))
    yield "bmm 16 x 256", torch.bmm, matrices(f32, (16, 256, 256), (16, 256, 256))
    yield "mm 256, bf16", torch.mm, matrices(bf16, (256, 256), (256, 256))


def host_us(call, arguments, count):
    begin = time.perf_counter()
    for _ in range(count):
        call(*arguments)
    taken = time.perf_counter() - begin
    torch.cuda.synchronize()
    return taken / count * 1e6


def device_us(call, arguments):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(10):
        call(*arguments)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 100


def measure(name, call, arguments):
    times = {key: [] for key in ("host aten", "host tuner", "device aten", "device tuner")}
    taken = 0
    for _ in range(ROUNDS):
        for who in ("aten", "tuner"):
            (tuner.torch.enable if who == "tuner" else tuner.torch.disable)()
            for _ in range(3):
                call(*arguments)
            torch.cuda.synchronize()
            times[f"device {who}"].append(device_us(call, arguments))
            count = min(400, max(20, int(30e3 / times[f"device {who}"][-1])))
            times[f"host {who}"].append(host_us(call, arguments, count))
            taken = tuner.torch.statistics().taken
    tuner.torch.disable()
    return {"case": name, "taken": taken > 0, **{key: statistics.median(values) for key, values in times.items()}}


def main():
    rows = [measure(*case) for case in cases()]
    for row in rows:
        print(json.dumps(row))
    print(f"{'case':34} taken  host us: aten  tuner   more  device us:   aten    tuner  speedup")
    for row in rows:
        aten, ours, slow, fast = (row[key] for key in ("host aten", "host tuner", "device aten", "device tuner"))
        print(f"{row['case']:34} {'yes' if row['taken'] else 'no':5} {aten:14.2f} {ours:6.2f} {ours - aten:6.2f} "
              f"{slow:18.1f} {fast:8.1f} {slow / fast:8.3f}")


if __name__ == "__main__":
    main()
