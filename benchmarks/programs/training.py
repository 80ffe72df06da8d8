#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of an MLP and of a small transformer with PyTorch, eager and as a CUDA graph.

    training.py float32|bfloat16 [STEPS]

Knows nothing of tuner. Prints a JSON line for each model and mode: the median time of a step by CUDA events, and
the losses of all steps, with the weights and data of fixed seeds.
"""

import json
import statistics
import sys

import torch
from torch import nn
from torch.nn import functional

DTYPE = getattr(torch, sys.argv[1])
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 50
WARM_UP = 5
TOKENS, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 8192, 768, 12, 4, 6, 512


class Mlp(nn.Module):
    """Linear layers with bias, as nn.Linear has them by default."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 4096), nn.GELU(),
                                    nn.Linear(4096, 1024))

    @staticmethod
    def data():
        return torch.randn(2048, 1024, device="cuda", dtype=DTYPE), torch.randn(2048, 1024, device="cuda", dtype=DTYPE)

    def forward(self, x, target):
        return (self.layers(x) - target).float().square().mean()


class Block(nn.Module):
    """Attention and feed-forward layers without bias, as in most language models."""

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        parts = self.qkv(self.norm_1(x)).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(functional.gelu(self.up(self.norm_2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS, bias=False)

    @staticmethod
    def data():
        text = torch.randint(TOKENS, (BATCH, LENGTH + 1), device="cuda")
        return text[:, :-1].contiguous(), text[:, 1:].contiguous()

    def forward(self, x, target):
        logits = self.head(self.norm(self.blocks(self.embed(x))))
        return functional.cross_entropy(logits.view(-1, TOKENS).float(), target.view(-1))


def training(make):
    """A function that does a step and returns the loss."""
    torch.manual_seed(0)
    model = make().to("cuda", DTYPE)
    data = model.data()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True, capturable=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(*data)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def captured(step):
    """The same as a graph; the steps that PyTorch wants before a capture are part of the training."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        first = [step().clone() for _ in range(3)]
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay, first


def measure(name, make, is_graph):
    step, losses = captured(training(make)) if is_graph else (training(make), [])
    events = []
    while len(losses) < WARM_UP + STEPS:
        events.append(torch.cuda.Event(enable_timing=True))
        events[-1].record()
        losses.append(step().clone())
    torch.cuda.synchronize()
    times = [begin.elapsed_time(end) for begin, end in zip(events[WARM_UP:], events[WARM_UP + 1:])]
    print(json.dumps({"case": f"{name} {'graph' if is_graph else 'eager'}", "ms": statistics.median(times),
                      "losses": [loss.item() for loss in losses]}), flush=True)


if __name__ == "__main__":
    for name, make in (("MLP", Mlp), ("transformer", Transformer)):
        for is_graph in (False, True):
            measure(f"{name} {sys.argv[1]}", make, is_graph)
