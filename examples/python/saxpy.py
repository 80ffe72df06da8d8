# SPDX-License-Identifier: Apache-2.0
"""Multiplies matrices, and launches the family saxpy: on GPU 0 with CuPy, or with `cpu` on the CPU with NumPy."""

import sys

import tuner

backend = "cpu" if sys.argv[1:] == ["cpu"] else "cuda"
if backend == "cpu":
    import numpy as arrays
else:
    import cupy as arrays

a, b = arrays.ones((256, 512), "f4"), arrays.ones((512, 128), "f4")
c = tuner.matmul(a, b)  # on the current stream of CuPy
print("product:", float(c.sum()))

n = 1_000_000
x, y = arrays.ones(n, "f4"), arrays.ones(n, "f4")
dispatcher = tuner.Dispatcher(backend=backend)
dispatcher.prepare("saxpy", [n])
dispatcher.launch("saxpy", n, 2.0, x, y)
print("saxpy:", float(y.sum()), dispatcher.answer("saxpy", n).configuration)
