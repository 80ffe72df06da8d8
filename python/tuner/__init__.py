# SPDX-License-Identifier: Apache-2.0
"""The fastest known CUDA kernel for each problem size, for arrays of torch, CuPy, NumPy and others.

    import tuner
    c = tuner.matmul(a, b)                       # on the device and stream of the arrays

    k = tuner.tune(source, "saxpy<ITEMS>", ...)  # the fastest configuration whose results are right
    k(n, 2.0, x, y)

    dispatcher = tuner.Dispatcher()              # what `tune` found on GPU 0
    dispatcher.launch("saxpy", n, 2.0, x, y)     # a family of your own

    tuner.torch.enable()                         # torch.mm, addmm, bmm and all that uses them
"""

from typing import TYPE_CHECKING, Any

from . import torch
from ._capture import Captured, capture
from ._dispatcher import Answer, Argument, Dispatcher, Served, Table
from ._library import Error
from ._matmul import matmul
from ._version import VERSION as __version__

if TYPE_CHECKING:
    from ._kernel import Kernel, kernel
    from ._tune import CudaReference, tune
    from ._tuned import Best, Tuned

_OF_TUNING = {"tune": "_tune", "CudaReference": "_tune", "Tuned": "_tuned", "Best": "_tuned", "Kernel": "_kernel",
              "kernel": "_kernel"}


def __getattr__(name: str) -> Any:
    """What needs NumPy is imported when it is first used."""
    if name not in _OF_TUNING:
        raise AttributeError(f"module 'tuner' has no attribute {name!r}")
    try:
        module = __import__(f"tuner.{_OF_TUNING[name]}", fromlist=[name])
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise ImportError("tuner.tune needs NumPy: pip install numpy", name="numpy") from None
    return getattr(module, name)


__all__ = ["Answer", "Argument", "Best", "Captured", "CudaReference", "Dispatcher", "Error", "Kernel", "Served", "Table", "Tuned", "capture", "kernel", "matmul", "torch",
           "tune", "__version__"]
