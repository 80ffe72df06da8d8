#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of a Llama-shaped model, four layers with the shapes of 8 billion parameters and random weights in bf16, by aten alone and with tuner.torch, on a GPU.

Each step is captured in a CUDA graph, as it is and as torch.compile makes it; rounds alternate between the graphs of both. `ready` is what the first step with
tuner.torch takes, where sizes are chosen. `ratio` is aten's time divided by tuner's, the median over rounds, with the least and the greatest.

    PYTHONPATH=python benchmarks/python/llama_step.py [--measure] [--compile] [--table db/seed/nvidia-h200.json] TOKENS...
"""

import argparse
import statistics
import time

import torch
import transformers

import tuner
from graphs import time_us

ROUNDS = 20
SHAPE = dict(hidden_size=4096, intermediate_size=14336, num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
             num_hidden_layers=4, max_position_embeddings=8192)


def model():
    with torch.device("cuda"):
        made = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHAPE)).to(torch.bfloat16)
    return made.eval()


def captured(step, ids):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step(ids)
    return graph, result


def compare(step, tokens, label, options):
    """Prints a line: a step on `tokens` sequences of one token each."""
    ids = torch.randint(0, SHAPE["vocab_size"], (tokens, 1), device="cuda")
    tuner.torch.disable()
    for _ in range(3):
        step(ids)
    torch.cuda.synchronize()
    plain, expected = captured(step, ids)
    tuner.torch.enable(measure=options.measure, table=options.table)
    start = time.monotonic()
    step(ids)
    torch.cuda.synchronize()
    ready = time.monotonic() - start
    step(ids)
    before = tuner.torch.statistics()
    tuned, result = captured(step, ids)
    after = tuner.torch.statistics()
    rounds = [(time_us(plain, 1), time_us(tuned, 1)) for _ in range(ROUNDS)]
    error = float((result - expected).abs().max() / expected.abs().max())
    ratios = sorted(a / b for a, b in rounds)
    aten, ours = (statistics.median(times) for times in zip(*rounds))
    print(f"{label:8} {tokens:5} tokens  aten {aten:7.1f} us  tuner {ours:7.1f} us  ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f}-{ratios[-1]:.3f})  "
          f"taken {after.taken - before.taken}  passed on {after.passed_on - before.passed_on}  ready {ready:.1f} s  error {error:.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="A step of a Llama-shaped model with and without tuner.torch")
    parser.add_argument("tokens", type=int, nargs="+", help="sequences, of one token each")
    parser.add_argument("--measure", action="store_true", help="choose by timing at the first step of a size")
    parser.add_argument("--compile", action="store_true", help="also the step that torch.compile makes")
    parser.add_argument("--table", type=tuner.Table.file, help="default: the user's database and the shipped table")
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda, "transformers", transformers.__version__)
    its = model()

    def step(ids):
        return its(input_ids=ids, use_cache=False, logits_to_keep=1).logits

    with torch.inference_mode():
        for tokens in options.tokens:
            compare(step, tokens, "eager", options)
            if options.compile:
                tuner.torch.disable()
                torch._dynamo.reset()
                compare(torch.compile(step, dynamic=False), tokens, "compiled", options)


if __name__ == "__main__":
    main()
