#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many configurations of each kernel are valid on each card, as `tune space count` says.

Usage: valid_configurations.py TUNE > benchmarks/results/valid-configurations-DATE.json

Runs from the root of the repository, and needs no GPU.
"""
import json
import subprocess
import sys

CARDS = ("t4", "a100", "rtx3090", "l40s", "h200", "b200", "b300", "rtx5090")
SIZES = {"gemm": "4096,4096,4096", "gemm_tensor": "4096,4096,4096,TRANS_B=1", "gemm_grouped": "4096,4096,4096",
         "transpose": "8192,8192", "reduction": "16777216", "convolution": "4096,4096,15"}


def counted(tune, space, size, card):
    command = [tune, "space", "count", f"spaces/{space}.json", "--device", card, "--size", size, "--json"]
    document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {kernel["kernel"]: kernel["valid"] for kernel in document["kernels"]}


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    lines = []
    for space, size in SIZES.items():
        by_card = {card: counted(arguments[0], space, size, card) for card in CARDS}
        kernels = {kernel: [by_card[card][kernel] for card in CARDS] for kernel in by_card[CARDS[0]]}
        lines.append(json.dumps({"space": space, "size": size, "kernels": kernels}))
    print(f'{{"cards": {json.dumps(CARDS)}, "spaces": [\n' + ",\n".join(lines) + "\n]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
