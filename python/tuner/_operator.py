# SPDX-License-Identifier: Apache-2.0
"""Tuned kernels as operators of PyTorch."""

from __future__ import annotations

from typing import Any, Dict, List

from . import _arrays
from ._arguments import Parameter
from ._tuned import Tuned

_NUMBERS = {"float": "float", "double": "float", "__half": "float", "__nv_bfloat16": "float"}


def in_place(name: str, tuned: Tuned) -> Any:
    """The operator takes what the kernel takes; outputs are written in place, nothing is returned."""
    torch = __import__("torch")
    schema = f"({', '.join(_declared(it, tuned.outputs, at) for at, it in enumerate(tuned.parameters))}) -> ()"
    operator = torch.library.custom_op(name, lambda *given: tuned(*given), mutates_args=tuned.outputs, schema=schema)
    operator.register_fake(lambda *given: None)
    return operator


def functional(name: str, tuned: Tuned) -> Any:
    """The operator takes what the kernel reads and returns new outputs, in the order of the kernel's parameters."""
    torch = __import__("torch")
    read = [it for it in tuned.parameters if it.name not in tuned.outputs or it.name in tuned.updated]
    if not any(it.is_pointer for it in read):
        raise TypeError(f"{tuned.kernel} reads no tensor, whose device its results could have: use torch_operator()")

    def made(values: List[Any]) -> Dict[str, Any]:
        given = {it.name: value for it, value in zip(read, values)}
        shapes = tuned.shapes_of(given)
        like = next(given[it.name] for it in read if it.is_pointer)
        outputs = {it.name: given[it.name].clone(memory_format=torch.contiguous_format) if it.name in given else _arrays.empty_like(like, shapes[it.name], it.type)
                   for it in tuned.parameters if it.name in tuned.outputs}
        return {**given, **outputs}

    def returned(everything: Dict[str, Any]) -> Any:
        outputs = tuple(everything[each] for each in tuned.outputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def run(*values: Any) -> Any:
        everything = made(list(values))
        tuned(**everything)
        return returned(everything)

    results = ", ".join(["Tensor"] * len(tuned.outputs))
    schema = f"({', '.join(_declared(it, [], 0) for it in read)}) -> {results if len(tuned.outputs) == 1 else f'({results})'}"
    operator = torch.library.custom_op(name, run, mutates_args=(), schema=schema)
    operator.register_fake(lambda *values: returned(made(list(values))))
    return operator


def _declared(parameter: Parameter, written: List[str], place: int) -> str:
    """A parameter as PyTorch writes it."""
    if not parameter.is_pointer:
        return f"{_NUMBERS.get(parameter.type, 'SymInt')} {parameter.name}"
    return f"Tensor{f'(a{place}!)' if parameter.name in written else ''} {parameter.name}"
