#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""a @ a with CuPy in float32. Knows nothing of tuner. Prints a JSON line for each size: the median time by events."""

import json
import statistics

import cupy

if __name__ == "__main__":
    for n in (384, 512, 1000, 1024, 2048, 4096):
        a = cupy.random.default_rng(0).standard_normal((n, n), dtype=cupy.float32)
        times = []
        for _ in range(30):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            for _ in range(5):
                a @ a
            end.record()
            end.synchronize()
            times.append(cupy.cuda.get_elapsed_time(begin, end) / 5)
        print(json.dumps({"case": f"CuPy {n} float32", "ms": statistics.median(times[5:]), "losses": []}))
