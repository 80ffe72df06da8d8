#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional.linear without a bias in bf16 and f16, by aten alone and with tuner.torch, on a GPU.

Weights of language models, 1 to 512 rows, and one size with odd extents. Both are captured in CUDA graphs that go through operands three times as large as
the L2 cache; rounds alternate between them. `ratio` is aten's time divided by tuner's.

    PYTHONPATH=python benchmarks/python/torch_linear.py db/seed/nvidia-h200.json
"""

import math
import statistics
import sys

import torch

import tuner
from graphs import captured, time_us

ROUNDS = 12
MOST_SETS = 40
CACHE_BYTES = 3 * (60 << 20)
WEIGHTS = ((256, 7168), (2112, 7168), (4096, 14336), (8192, 8192))
ROWS = (1, 8, 16, 64, 128, 512)
linear = torch.nn.functional.linear


def measure(table, dtype, m, n, k):
    """Prints a line; returns the ratio."""
    count = max(2, min(MOST_SETS, math.ceil(CACHE_BYTES / (2 * (m * k + n * k + m * n)))))
    operands = [(torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(n, k, device="cuda", dtype=dtype))
                for _ in range(count)]
    tuner.torch.disable()
    plain = captured(linear, operands)
    tuner.torch.enable(table=table)
    tuned = captured(linear, operands)
    taken = tuner.torch.statistics().taken > 0
    rounds = [(time_us(plain, count), time_us(tuned, count)) for _ in range(ROUNDS)]
    ratio = statistics.median(a / b for a, b in rounds)
    aten, ours = (statistics.median(times) for times in zip(*rounds))
    print(f"{str(dtype).partition('.')[2]:8} {m:4} x {n:4} x {k:5}  aten {aten:6.2f} us  tuner {ours:6.2f} us  ratio {ratio:.3f}"
          f"{'' if taken else '  (aten)'}", flush=True)
    return ratio


def main():
    table = tuner.Table.file(sys.argv[1])
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda)
    sizes = [(m, n, k) for n, k in WEIGHTS for m in ROWS] + [(1023, 1025, 1027)]
    ratios = [measure(table, dtype, *size) for dtype in (torch.bfloat16, torch.float16) for size in sizes]
    print(f"geometric mean of {len(ratios)}: {statistics.geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
