# SPDX-License-Identifier: Apache-2.0
"""The fastest known CUDA kernel for each problem size, for arrays of torch, CuPy, NumPy and others.

    import tuner
    c = tuner.matmul(a, b)                       # on the device and stream of the arrays

    dispatcher = tuner.Dispatcher()              # what `tune` found on GPU 0
    dispatcher.launch("saxpy", n, 2.0, x, y)     # a family of your own

    tuner.torch.enable()                         # torch.mm, addmm, bmm and all that uses them
"""

from . import torch
from ._dispatcher import Answer, Argument, Dispatcher, Served, Table
from ._library import Error
from ._matmul import matmul
from ._version import VERSION as __version__

__all__ = ["Answer", "Argument", "Dispatcher", "Error", "Served", "Table", "matmul", "torch", "__version__"]
