#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of models of transformers whose projections have biases, by aten alone and with tuner.torch, on a GPU: a few layers each, random weights.

Each step is captured in a CUDA graph; rounds alternate between the graphs of both. `ready` is what the first step with tuner.torch takes, where sizes are chosen and
kernels compiled. `ratio` is aten's time divided by tuner's, the median over rounds, with the least and the greatest.

    PYTHONPATH=python benchmarks/python/model_steps.py [--compile] [MODEL...]
"""

import argparse
import dataclasses
from typing import Any, Callable, Tuple

import torch
import transformers

import tuner
from steps import compare

VOCABULARY = 1000


@dataclasses.dataclass(frozen=True)
class Model:
    make: Callable[[], Any]
    dtype: torch.dtype
    inputs: Tuple[Tuple[int, ...], ...]  # sequences and tokens of each, or images


MODELS = {
    "opt": Model(lambda: transformers.OPTForCausalLM(transformers.OPTConfig(
        hidden_size=4096, ffn_dim=16384, num_hidden_layers=3, num_attention_heads=32, word_embed_proj_dim=4096)), torch.float16, ((1, 1), (16, 1), (48, 1))),
    "qwen2": Model(lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        hidden_size=3584, intermediate_size=18944, num_hidden_layers=3, num_attention_heads=28, num_key_value_heads=4)), torch.bfloat16, ((16, 1), (1, 128))),
    "gpt2": Model(lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=1600, n_layer=4, n_head=25)), torch.bfloat16, ((8, 1), (1, 64))),
    "phi": Model(lambda: transformers.PhiForCausalLM(transformers.PhiConfig(
        hidden_size=2560, intermediate_size=10240, num_hidden_layers=4, num_attention_heads=32)), torch.float16, ((4, 1), (1, 200))),
    "bert": Model(lambda: transformers.BertModel(transformers.BertConfig(
        hidden_size=1024, intermediate_size=4096, num_hidden_layers=4, num_attention_heads=16)), torch.float32, ((1, 32), (8, 64))),
    "vit": Model(lambda: transformers.ViTModel(transformers.ViTConfig(
        hidden_size=1024, intermediate_size=4096, num_hidden_layers=4, num_attention_heads=16)), torch.float32, ((1, 3, 224, 224),)),
}


def made(model):
    with torch.device("cuda"):
        return model.make().to(model.dtype).eval()


def step_of(module):
    options = {"use_cache": False} if hasattr(module, "lm_head") else {}
    return lambda x: module(**{module.main_input_name: x}, **options)[0]


def inputs_of(shape, dtype):
    if len(shape) == 4:
        return torch.randn(shape, device="cuda", dtype=dtype)
    return torch.randint(0, VOCABULARY, shape, device="cuda")


def main():
    parser = argparse.ArgumentParser(description="Steps of models with biases, with and without tuner.torch")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"{', '.join(MODELS)}; default: all")
    parser.add_argument("--compile", action="store_true", help="also the steps that torch.compile makes")
    options = parser.parse_args()
    if unknown := set(options.models) - set(MODELS):
        parser.error(f"{', '.join(unknown)}: none of {', '.join(MODELS)}")
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda, "transformers", transformers.__version__)
    with torch.inference_mode():
        for name in options.models or MODELS:
            step = step_of(made(MODELS[name]))
            for shape in MODELS[name].inputs:
                x, label = inputs_of(shape, MODELS[name].dtype), f"{name} {'x'.join(map(str, shape))}"
                compare(step, x, label)
                if options.compile:
                    tuner.torch.disable()
                    torch._dynamo.reset()
                    compare(torch.compile(step, dynamic=False), x, label + " compiled")
            del step
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
