# SPDX-License-Identifier: Apache-2.0
"""Shapes of linear layers of language models of 1 to 70 billion parameters, as their configurations give them."""

import json
import math
import pathlib
import random

# Hidden size, rows of the query, of key and value each, inner size of the MLP.
MODELS = {
    "Gemma 2 2B": (2304, 2048, 1024, 9216), "Qwen 2.5 1.5B": (1536, 1536, 256, 8960), "Qwen 2.5 3B": (2048, 2048, 256, 11008),
    "StableLM 2 1.6B": (2048, 2048, 2048, 5632), "Phi 2": (2560, 2560, 2560, 10240), "Qwen 3 4B": (2560, 4096, 1024, 9728),
    "Llama 3.2 3B": (3072, 3072, 1024, 8192), "Falcon 7B": (4544, 4544, 64, 18176), "Qwen 2.5 7B": (3584, 3584, 512, 18944),
    "Gemma 2 9B": (3584, 4096, 2048, 14336), "Qwen 3 8B": (4096, 4096, 1024, 12288), "Mistral Nemo 12B": (5120, 4096, 1024, 14336),
    "Phi 3 medium": (5120, 5120, 1280, 17920), "Qwen 2.5 14B": (5120, 5120, 1024, 13824), "Nemotron 4 15B": (6144, 6144, 1024, 24576),
    "InternLM 2 20B": (6144, 6144, 1024, 16384), "Mistral Small 24B": (5120, 4096, 1024, 32768), "Gemma 2 27B": (4608, 4096, 2048, 36864),
    "Llama 30B": (6656, 6656, 6656, 17920), "Qwen 3 32B": (5120, 8192, 1024, 25600), "Yi 34B": (7168, 7168, 1024, 20480),
    "Command R 35B": (8192, 8192, 8192, 22528), "Qwen 2.5 72B": (8192, 8192, 1024, 29568),
}
MOST_ROWS = 6000
CLASSES = (("1-16", 16), ("17-63", 63), ("64-2000", 2000), (">2000", math.inf))


def row_class(m):
    return next(name for name, last in CLASSES if m <= last)


def weights():
    """N and K of each layer: query, key and value together and the query alone, output, gate and up together and one, down."""
    found = set()
    for hidden, query, key, inner in MODELS.values():
        found |= {(query + 2 * key, hidden), (query, hidden), (hidden, query), (2 * inner, hidden), (inner, hidden), (hidden, inner)}
    return found


def in_suites():
    """Pairs of numbers that stand together in a size of a suite or a distribution of this repository."""
    pairs = set()

    def note(value):
        if isinstance(value, dict):
            if isinstance(value.get("N"), int) and isinstance(value.get("K"), int):
                pairs.add((value["N"], value["K"]))
            for it in value.values():
                note(it)
        elif isinstance(value, list):
            numbers = [it for it in value if isinstance(it, int)]
            if len(numbers) == len(value) >= 2:
                pairs.update({tuple(numbers[-2:]), tuple(numbers[1:3]), tuple(numbers[:2])})
            for it in value:
                note(it)

    root = pathlib.Path(__file__).resolve().parents[2] / "spaces"
    for file in [*root.glob("suites/*.json"), *root.glob("distributions/**/*.json")]:
        note(json.loads(file.read_text(encoding="utf-8")))
    return pairs


def draw(count, seed):
    """M, N and K of `count` layers that no suite has, M log-uniform."""
    chance = random.Random(seed)
    known = in_suites()
    pairs = sorted(weights() - known)
    for _ in range(count):
        n, k = chance.choice(pairs)
        yield round(math.exp(chance.uniform(0, math.log(MOST_ROWS)))), n, k
