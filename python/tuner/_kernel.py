# SPDX-License-Identifier: Apache-2.0
"""Tuned kernels by their references: the decorator tuner.kernel, and operators of PyTorch."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, List, Optional

from ._tune import tune
from ._tuned import Tuned

_SCHEMA_NUMBERS = {"float": "float", "double": "float"}


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
        torch = __import__("torch")
        tuned = self.tuned
        operator = torch.library.custom_op(name, lambda *given: tuned(*given), mutates_args=tuned.outputs, schema=_schema(tuned))
        operator.register_fake(lambda *given: None)
        return operator


def _schema(tuned: Tuned) -> str:
    """The operator's parameters as PyTorch writes them."""
    parts: List[str] = []
    for parameter in tuned.parameters:
        if not parameter.is_pointer:
            parts.append(f"{_SCHEMA_NUMBERS.get(parameter.type, 'SymInt')} {parameter.name}")
        elif parameter.name in tuned.outputs:
            parts.append(f"Tensor(a{len(parts)}!) {parameter.name}")
        else:
            parts.append(f"Tensor {parameter.name}")
    return f"({', '.join(parts)}) -> ()"


def kernel(source: Any, entry: Optional[str] = None, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Makes a function the reference of a CUDA kernel, which is launched by its name.

        @tuner.kernel(SOURCE, "saxpy<ITEMS>", args=…, grid=…, block=…, sizes=[…])
        def saxpy(a, x, y): return a * x + y

    The arguments are those of tuner.tune().
    """
    return lambda reference: Kernel(reference, source, entry, options)
