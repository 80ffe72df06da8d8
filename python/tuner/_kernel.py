# SPDX-License-Identifier: Apache-2.0
"""Tuned kernels by their references: the decorator tuner.kernel, and operators of PyTorch."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Optional

from . import _operator
from ._tune import tune
from ._tuned import Tuned


class Kernel:
    """A kernel that is tuned at its first launch, with the decorated function as its reference."""

    def __init__(self, reference: Callable[..., Any], source: Any, entry: Optional[str], options: Any) -> None:
        functools.update_wrapper(self, reference)
        self.reference = reference
        self._source, self._entry, self._options = source, entry, options
        self._lock = threading.Lock()
        self._tuned: Optional[Tuned] = None

    @property
    def tuned(self) -> Tuned:
        """What tuner.tune() finds: at the first use; where an equal call found it before, a look-up."""
        with self._lock:
            if self._tuned is None:
                self._tuned = tune(self._source, self._entry, reference=self.reference, **self._options)
            return self._tuned

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Launches the best configuration, as Tuned does."""
        self.tuned(*arguments, **named)

    def torch_operator(self, name: str) -> Any:
        """Registers it as an operator of PyTorch, "library::name": for eager code, torch.compile and CUDA graphs.

        It takes what the kernel takes and returns nothing; outputs are written in place.
        """
        return _operator.in_place(name, self.tuned)

    def torch_function(self, name: str) -> Any:
        """Registers an operator without effects: it takes what the kernel reads and returns new outputs. Gradients are those of
        torch.library.register_autograd(name, …)."""
        return _operator.functional(name, self.tuned)

    def torch_choice(self, name: str) -> Any:
        """Registers an operator as torch_function() does, but which takes tensors before numbers. torch.compile(mode="max-autotune")
        times the kernel beside the reference, as Inductor compiles it, and calls the faster."""
        return _operator.inductor_choice(name, self.tuned, self.reference)


def kernel(source: Any, entry: Optional[str] = None, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Makes a function the reference of a CUDA kernel, which is launched by its name.

        @tuner.kernel(SOURCE, "saxpy<ITEMS>", args=…, grid=…, block=…, sizes=[…])
        def saxpy(a, x, y): return a * x + y

    The arguments are those of tuner.tune().
    """
    return lambda reference: Kernel(reference, source, entry, options)
