# SPDX-License-Identifier: Apache-2.0
"""A kernel with one configuration, called with arrays."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

from ._interface import run_kernel
from .integration import TuneResults


class PythonKernel:
    """A call launches the kernel, in a process of its own, and returns the outputs; arrays that are given are not changed, but
    those of CuPy and PyTorch, which hold what it wrote. To launch often, use tuner.tune() or tuner.Dispatcher."""

    def __init__(self, kernel_name: str, kernel_string: Any, problem_size: Any, arguments: Sequence[Any],
                 params: Optional[Mapping[str, Any]] = None, inputs: Optional[Sequence[bool]] = None,
                 outputs: Optional[Sequence[bool]] = None, device: int = 0, platform: int = 0, block_size_names: Optional[Sequence[str]] = None,
                 grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None, verbose: bool = True,
                 lang: Optional[str] = None, results_file: Any = None) -> None:
        self.params = dict(params or {})
        if results_file:
            self.params.update(TuneResults(results_file).get_best_config("default", problem_size))
        self._outputs = list(outputs) if outputs else [True] * len(arguments)
        self._given = (kernel_name, kernel_string, problem_size)
        self._options = {"grid_div_x": grid_div_x, "grid_div_y": grid_div_y, "grid_div_z": grid_div_z, "lang": lang, "device": device,
                         "block_size_names": block_size_names}

    def __call__(self, *arguments: Any) -> List[Any]:
        results = run_kernel(*self._given, list(arguments), self.params, **self._options)
        returned = []
        for argument, result, is_output in zip(arguments, results, self._outputs):
            if not hasattr(argument, "shape") or not argument.shape:
                continue
            library = type(argument).__module__.partition(".")[0]
            if library == "cupy":
                argument[...] = __import__("cupy").asarray(result)
            elif library == "torch":
                argument.copy_(result)
            if is_output:
                returned.append(result)
        return returned

    def run_kernel(self, arguments: Sequence[Any]) -> List[Any]:
        """As a call with these arguments."""
        return self(*arguments)
