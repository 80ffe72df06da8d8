#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of a Llama-shaped model, four layers with the shapes of 8 billion parameters and random weights in bf16, by aten alone and with tuner.torch, on a GPU.

The model is that of transformers; with --merged a decode step as servers run it: query, key and value in one product, gate and up in another, attention over
a cache of 512 tokens of each sequence.

Each step is captured in a CUDA graph, as it is and as torch.compile makes it; rounds alternate between the graphs of both. `ready` is what the first step with
tuner.torch takes, where sizes are chosen. `ratio` is aten's time divided by tuner's, the median over rounds, with the least and the greatest.

    PYTHONPATH=python benchmarks/python/llama_step.py [--[no-]measure] [--compile] [--merged] [--bias] [--alone] [--table db/seed/nvidia-h200.json] TOKENS...
"""

import argparse
import statistics

import torch
import transformers
from torch.nn import functional

import tuner
from graphs import time_us
from steps import ROUNDS, captured_step, compare, first_call_s

SHAPE = dict(hidden_size=4096, intermediate_size=14336, num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
             num_hidden_layers=4, max_position_embeddings=8192)


def model(bias):
    with torch.device("cuda"):
        made = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHAPE, attention_bias=bias, mlp_bias=bias)).to(torch.bfloat16)
    return made.eval()


class MergedLayer(torch.nn.Module):
    """A decode layer with merged projections: random weights, positions left out."""

    CACHED = 512

    def __init__(self, hidden, intermediate, heads, key_heads):
        super().__init__()
        self.heads, self.key_heads, self.width = heads, key_heads, hidden // heads
        self.qkv = torch.nn.Linear(hidden, (heads + 2 * key_heads) * self.width, bias=False)
        self.out = torch.nn.Linear(hidden, hidden, bias=False)
        self.gate_up = torch.nn.Linear(hidden, 2 * intermediate, bias=False)
        self.down = torch.nn.Linear(intermediate, hidden, bias=False)
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(hidden) for _ in range(2))

    def forward(self, x, cache):
        q, k, v = self.qkv(self.norms[0](x)).view(len(x), 1, -1, self.width).transpose(1, 2).split(
            [self.heads, self.key_heads, self.key_heads], dim=1)
        keys, values = (torch.cat([old[:len(x)], new], dim=2) for old, new in zip(cache, (k, v)))
        attended = functional.scaled_dot_product_attention(q, keys, values, enable_gqa=True)
        x = x + self.out(attended.transpose(1, 2).reshape(len(x), -1))
        gate, up = self.gate_up(self.norms[1](x)).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


class MergedModel(torch.nn.Module):
    def __init__(self, most_sequences):
        super().__init__()
        hidden, key_heads = SHAPE["hidden_size"], SHAPE["num_key_value_heads"]
        heads = SHAPE["num_attention_heads"]
        self.embedding = torch.nn.Embedding(SHAPE["vocab_size"], hidden)
        self.layers = torch.nn.ModuleList(MergedLayer(hidden, SHAPE["intermediate_size"], heads, key_heads)
                                          for _ in range(SHAPE["num_hidden_layers"]))
        self.head = torch.nn.Linear(hidden, SHAPE["vocab_size"], bias=False)
        self.cache = [tuple(torch.randn(most_sequences, key_heads, MergedLayer.CACHED, hidden // heads, dtype=torch.bfloat16) for _ in range(2))
                      for _ in self.layers]

    def forward(self, ids):
        x = self.embedding(ids[:, 0])
        for layer, cache in zip(self.layers, self.cache):
            x = layer(x, cache)
        return self.head(x)


def time_alone(step, tokens, label):
    """Prints a line: a step by aten alone, or by what intercepts its calls."""
    ids = torch.randint(0, SHAPE["vocab_size"], (tokens, 1), device="cuda")
    ready = first_call_s(step, ids)
    graph, _ = captured_step(step, ids)
    times = sorted(time_us(graph, 1) for _ in range(ROUNDS))
    print(f"{label:8} {tokens:5} tokens  {statistics.median(times):7.1f} us ({times[0]:.1f}-{times[-1]:.1f})  ready {ready:.1f} s", flush=True)


def compare_at(step, tokens, label, options):
    """Prints a line: a step on `tokens` sequences of one token each."""
    ids = torch.randint(0, SHAPE["vocab_size"], (tokens, 1), device="cuda")
    compare(step, ids, f"{label:8} {tokens:5} tokens", measure=options.measure, table=options.table)


def main():
    parser = argparse.ArgumentParser(description="A step of a Llama-shaped model with and without tuner.torch")
    parser.add_argument("tokens", type=int, nargs="+", help="sequences, of one token each")
    parser.add_argument("--measure", action=argparse.BooleanOptionalAction, help="time all new sizes at their first call, or none")
    parser.add_argument("--compile", action="store_true", help="also the step that torch.compile makes")
    parser.add_argument("--merged", action="store_true", help="a decode step with merged projections instead of transformers' model")
    parser.add_argument("--bias", action="store_true", help="with a bias in each projection of transformers' model")
    parser.add_argument("--alone", action="store_true", help="without tuner.torch: for `tune record` and `tune exec`")
    parser.add_argument("--table", type=tuner.Table.file, help="default: the user's database and the shipped table")
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda, "transformers", transformers.__version__)
    if options.merged:
        with torch.device("cuda"):
            step = MergedModel(max(options.tokens)).to(torch.bfloat16).eval()
    else:
        its = model(options.bias)

        def step(ids):
            return its(input_ids=ids, use_cache=False, logits_to_keep=1).logits

    with torch.inference_mode():
        for tokens in options.tokens:
            if options.alone:
                time_alone(step, tokens, "eager")
                continue
            compare_at(step, tokens, "eager", options)
            if options.compile:
                tuner.torch.disable()
                torch._dynamo.reset()
                compare_at(torch.compile(step, dynamic=False), tokens, "compiled", options)


if __name__ == "__main__":
    main()
