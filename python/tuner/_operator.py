# SPDX-License-Identifier: Apache-2.0
"""Tuned kernels as operators of PyTorch."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Callable, Dict, List

from . import _arrays
from ._arguments import Parameter
from ._library import Error
from ._reference import library_of
from ._tuned import Tuned

_NUMBERS = {"float": "float", "double": "float", "__half": "float", "__nv_bfloat16": "float"}


def in_place(name: str, tuned: Tuned) -> Any:
    """The operator takes what the kernel takes; outputs are written in place, nothing is returned."""
    torch = __import__("torch")
    schema = f"({', '.join(_declared(it, tuned.outputs, at) for at, it in enumerate(tuned.parameters))}) -> ()"
    operator = torch.library.custom_op(name, lambda *given: tuned(*given), mutates_args=tuned.outputs, schema=schema)
    operator.register_fake(lambda *given: None)
    return operator


def functional(name: str, tuned: Tuned, tensors_first: bool = False) -> Any:
    """The operator takes what the kernel reads and returns new outputs, in the order of the kernel's parameters."""
    torch = __import__("torch")
    read = [it for it in tuned.parameters if it.name not in tuned.outputs or it.name in tuned.updated]
    if tensors_first:
        read.sort(key=lambda parameter: not parameter.is_pointer)
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


def inductor_choice(name: str, tuned: Tuned, reference: Callable[..., Any]) -> Any:
    """functional(), for which Inductor may compile the reference instead. Inductor passes tensors by place, numbers by name."""
    try:
        inductor = importlib.import_module("torch._inductor.kernel.custom_op")
        register, config = inductor.register_custom_op_autotuning, inductor.CustomOpConfig
    except (ImportError, AttributeError) as error:
        raise Error("this version of PyTorch cannot time an operator beside code of its own "
                    "(torch._inductor.kernel.custom_op.register_custom_op_autotuning): use torch_function()") from error
    if library_of(reference) != "torch":
        raise TypeError(f"{tuned.kernel}: Inductor compiles functions of PyTorch, the reference is of {library_of(reference)}: use torch_function()")
    if len(tuned.outputs) != 1:
        raise TypeError(f"{tuned.kernel} writes {', '.join(tuned.outputs)}, Inductor takes operators with one result: use torch_function()")
    operator = functional(name, tuned, tensors_first=True)
    tensors = [it.name for it in tuned.parameters if it.is_pointer and (it.name not in tuned.outputs or it.name in tuned.updated)]
    parameters = inspect.signature(reference).parameters
    takes_all = any(it.kind == it.VAR_KEYWORD for it in parameters.values())

    def compiled(*given: Any, **numbers: Any) -> Any:
        named = {**dict(zip(tensors, given)), **numbers}
        return reference(**{key: value for key, value in named.items() if takes_all or key in parameters})

    register(operator, configs=[config(compiled)])
    return operator


def _declared(parameter: Parameter, written: List[str], place: int) -> str:
    """A parameter as PyTorch writes it."""
    if not parameter.is_pointer:
        return f"{_NUMBERS.get(parameter.type, 'SymInt')} {parameter.name}"
    return f"Tensor{f'(a{place}!)' if parameter.name in written else ''} {parameter.name}"
