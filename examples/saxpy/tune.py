# SPDX-License-Identifier: Apache-2.0
"""Tunes saxpy.cu against a function of NumPy, on GPU 0 or, without a GPU, on the CPU."""

import pathlib

import tuner

HERE = pathlib.Path(__file__).parent

k = tuner.tune(HERE / "saxpy.cu", "saxpy<ITEMS>", parameters={"BLOCK": [32, 256], "ITEMS": [1, 8]},
               args=lambda N, rng: {"n": N, "a": 2.0, "x": rng.normal(N), "y": rng.normal(N)},
               grid="ceil_div(N, BLOCK*ITEMS)", block="BLOCK", sizes=[1_000_000],
               reference=lambda a, x, y: a * x + y)
print(k)
