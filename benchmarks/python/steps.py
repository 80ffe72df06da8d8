# SPDX-License-Identifier: Apache-2.0
"""A step of a model in CUDA graphs, by aten alone and with tuner.torch."""

import statistics
import time

import torch

import tuner
from graphs import time_us

ROUNDS = 20


def captured_step(step, x):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step(x)
    return graph, result


def first_call_s(step, x):
    """Seconds of the first call; two more calls follow it."""
    start = time.monotonic()
    step(x)
    torch.cuda.synchronize()
    seconds = time.monotonic() - start
    for _ in range(2):
        step(x)
    return seconds


def compare(step, x, label, **options):
    """Prints a line; the options are those of tuner.torch.enable()."""
    tuner.torch.disable()
    for _ in range(3):
        step(x)
    torch.cuda.synchronize()
    plain, expected = captured_step(step, x)
    tuner.torch.enable(**options)
    ready = first_call_s(step, x)
    before = tuner.torch.statistics()
    tuned, result = captured_step(step, x)
    after = tuner.torch.statistics()
    rounds = [(time_us(plain, 1), time_us(tuned, 1)) for _ in range(ROUNDS)]
    error = float((result - expected).abs().max() / expected.abs().max())
    ratios = sorted(a / b for a, b in rounds)
    aten, ours = (statistics.median(times) for times in zip(*rounds))
    print(f"{label:30} aten {aten:7.1f} us  tuner {ours:7.1f} us  ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f}-{ratios[-1]:.3f})  "
          f"taken {after.taken - before.taken}  passed on {after.passed_on - before.passed_on}  ready {ready:.1f} s  error {error:.1e}", flush=True)
