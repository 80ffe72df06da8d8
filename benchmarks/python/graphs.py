# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs of PyTorch that call a function for each of several sets of operands, and their times."""

import torch


def captured(call, operands):
    """A graph of a call for each set; the first call, which may compile, comes before the capture."""
    graph = torch.cuda.CUDAGraph()
    call(*operands[0])
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for each in operands:
            call(*each)
    return graph


def time_us(graph, count):
    """Of one of the graph's `count` calls."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / count
