# SPDX-License-Identifier: Apache-2.0
"""Strategies by their names. The search of `tune` takes their place, but for brute_force and random_sample."""

from typing import Any

brute_force = "brute_force"
random_sample = "random_sample"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return name
