# SPDX-License-Identifier: Apache-2.0
"""The arguments of a kernel: what a generator or fixed arrays say of them, as a space file says it."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _arrays
from ._expression import Untraceable, Value, name

Shape = Tuple[Union[int, Value], ...]
Size = Tuple[int, ...]

# C++ names of element types by those of NumPy and PyTorch.
_TYPES = {**{numpy.dtype(code).name: element for code, element in _arrays.ELEMENTS.items()}, **_arrays.TORCH_ELEMENTS}
BYTES = {"float": 4, "double": 8, "__half": 2, "__nv_bfloat16": 2, "__nv_fp8_e4m3": 1, "__nv_fp8_e5m2": 1, "tf32": 4,
         "signed char": 1, "short": 2, "int": 4, "long long": 8, "unsigned char": 1, "unsigned short": 2, "unsigned": 4,
         "unsigned long long": 8}
_FLOATING = ("float", "double", "__half", "__nv_bfloat16", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "tf32")


@dataclasses.dataclass(frozen=True)
class Draw:
    """The content of a buffer: numbers that each check draws anew, or the same in each check."""

    fill: Any          # of a space file; None: no content
    shape: Shape
    dtype: Optional[str] = None
    initial: Optional[str] = None  # of an output


class Draws:
    """`rng` of a generator of arguments: contents of buffers. Each check draws other numbers, but for `full` and `zeros`:
    whole ones, normal ones, many equal ones, and by the laws of verification."""

    def normal(self, *shape: Any, dtype: Any = None) -> Draw:
        """Standard normal numbers; integers of all magnitudes and signs."""
        return _draw("normal", shape, dtype)

    def uniform(self, *shape: Any, low: float = 0, high: float = 1, dtype: Any = None) -> Draw:
        """Numbers from low to below high."""
        return _draw("uniform" if (low, high) == (0, 1) else {"uniform": [low, high]}, shape, dtype)

    def positive(self, *shape: Any, dtype: Any = None) -> Draw:
        """Numbers above 0."""
        return _draw("positive", shape, dtype)

    def integers(self, low: Any, high: Any, *shape: Any, dtype: Any = None) -> Draw:
        """Whole numbers from low to below high, as of numpy.random.Generator."""
        last = high - 1
        return _draw({"integers": [_written(low), _written(last)]}, shape, dtype)

    def permutation(self, count: Any, dtype: Any = None) -> Draw:
        """The numbers from 0 to count - 1, each once."""
        return _draw("permutation", (count,), dtype)

    def sorted(self, *shape: Any, dtype: Any = None) -> Draw:
        """Ascending numbers, some equal."""
        return _draw("sorted", shape, dtype)

    def full(self, value: float, *shape: Any, dtype: Any = None) -> Draw:
        """One number, in each check."""
        return _draw({"constant": value}, shape, dtype)

    def zeros(self, *shape: Any, dtype: Any = None) -> Draw:
        """Zeros; of an output: before each launch."""
        return dataclasses.replace(_draw({"constant": 0}, shape, dtype), initial="zero")

    def empty(self, *shape: Any, dtype: Any = None) -> Draw:
        """An output, all of which the kernel writes."""
        return _draw(None, shape, dtype)


def _draw(fill: Any, shape: Sequence[Any], dtype: Any) -> Draw:
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    for extent in shape:
        if not isinstance(extent, Value) and not hasattr(extent, "__index__"):
            raise TypeError(f"{extent!r} is no extent of an array: give whole numbers, such as rng.normal(N, 64)")
    return Draw(fill, tuple(shape) or (1,), None if dtype is None else element_name(dtype))


def _written(number: Any) -> Any:
    return number.text if isinstance(number, Value) else int(number)


def element_name(dtype: Any) -> str:
    """The C++ name of a dtype of NumPy or PyTorch, or of a name such as "bfloat16"."""
    text = dtype if isinstance(dtype, str) else str(dtype).partition("torch.")[2]
    if text not in _TYPES and text not in BYTES:
        try:
            text = numpy.dtype(dtype).name
        except TypeError:
            pass
    if text in _TYPES:
        return _TYPES[text]
    if text in BYTES:
        return text
    raise TypeError(f"{dtype!r} is no type that a kernel takes; there are {', '.join(_TYPES)}")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel's function, as its source declares it."""

    name: str
    type: str         # of the number, or of the elements
    is_pointer: bool
    is_const: bool
    align: Optional[int] = None


@dataclasses.dataclass
class Described:
    """The arguments at all sizes."""

    dims: List[str]
    entries: List[Dict[str, Any]]          # "arguments" of a space file
    files: Dict[str, Any]                  # arrays to write beside it, by file name
    shapes: Dict[str, Callable[[Mapping[str, int]], Tuple[int, ...]]]  # of each buffer at a size
    symbols: Dict[str, Shape]              # extents as they follow from the dimensions
    numbers: Dict[str, Any]                # scalars: numbers and symbolic values
    has_generator: bool = True


def read_size(size: Any, dims: Sequence[str]) -> Size:
    """A size that a user gives: a number, several, or numbers by name."""
    if isinstance(size, Mapping):
        if set(size) != set(dims):
            raise TypeError(f"the size {size!r} has not the dimensions {', '.join(dims)}")
        size = [size[dim] for dim in dims]
    try:
        numbers = tuple(int(each.__index__()) for each in (size if hasattr(size, "__iter__") else (size,)))
    except AttributeError:
        raise TypeError(f"the size {size!r} is no whole number, nor several") from None
    if len(numbers) != len(dims) or any(each < 1 for each in numbers):
        raise TypeError(f"the size {size!r}: {len(dims)} numbers above 0 are needed, for {', '.join(dims)}")
    return numbers


def dimensions(args: Any) -> List[str]:
    """The dimensions of a problem: the parameters of the generator before its last, rng."""
    if isinstance(args, Mapping):
        return ["N"]
    if not callable(args):
        raise TypeError("args is neither a function, such as lambda N, rng: dict(n=N, x=rng.normal(N)), nor a dict of arrays "
                        "and numbers by the names of the kernel's parameters")
    names = [it.name for it in inspect.signature(args).parameters.values()]
    if len(names) < 2:
        raise TypeError(f"args takes ({', '.join(names)}): it must take the dimensions of a size and then rng, as in "
                        "lambda N, rng: dict(n=N, x=rng.normal(N))")
    return names[:-1]


def describe(args: Any, parameters: Sequence[Parameter], outputs: Sequence[str], sizes: Sequence[Size],
             device: Tuple[str, int]) -> Described:
    """What `args` gives for each parameter of the kernel, at all sizes."""
    dims = dimensions(args)
    if isinstance(args, Mapping):
        return _describe(args, None, dims, parameters, outputs, device)
    symbols = [name(dim) for dim in dims]
    try:
        traced = _called(args, symbols)
    except Untraceable:
        raise TypeError("args: what the function returns cannot be written for every size: take arrays from rng, such as "
                        "rng.normal(N), or pass fixed arrays as a dict") from None
    for size in sizes:
        _require_equal(traced, _called(args, size), _called(args, size), dict(zip(dims, size)))
    return _describe(traced, sizes, dims, parameters, outputs, device)


def _called(args: Callable[..., Any], size: Sequence[Any]) -> Mapping[str, Any]:
    made = args(*size, Draws())
    if not isinstance(made, Mapping):
        raise TypeError(f"args returns {type(made).__name__}: it must return a dict of values by the names of the kernel's "
                        "parameters")
    return made


def _require_equal(traced: Mapping[str, Any], made: Mapping[str, Any], again: Mapping[str, Any],
                   size: Mapping[str, int]) -> None:
    """That the generator is a function of the size alone, and that what was traced is what it gives."""
    for key, value in traced.items():
        if isinstance(value, Draw):
            found, repeated = made.get(key), again.get(key)
            shape = tuple(_at(extent, size) for extent in value.shape)
            if isinstance(found, Draw) and isinstance(repeated, Draw) and found.shape == shape == repeated.shape:
                continue
        elif not _is_array(value):
            if _at(value, size) == made.get(key) == again.get(key):
                continue
        elif _is_array(made.get(key)) and numpy.array_equal(_host(made[key]), _host(value)):
            continue
        raise TypeError(f"args: {key} is another at the size {dict(size)} than from the dimensions, or another each time: it "
                        "must be a function of the size alone, without a clock, random numbers of its own or arrays "
                        "that depend on the size; contents come from rng")


def _at(value: Any, size: Mapping[str, int]) -> Any:
    return value.compute(dict(size)) if isinstance(value, Value) else value


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and (hasattr(value, "dtype") or hasattr(value, "__dlpack__")) and value.shape != ()


def _describe(made: Mapping[str, Any], sizes: Optional[Sequence[Size]], dims: List[str], parameters: Sequence[Parameter],
              outputs: Sequence[str], device: Tuple[str, int]) -> Described:
    declared = [it.name for it in parameters]
    for what, names in (("lacks", set(declared) - set(made)), ("has", set(made) - set(declared))):
        if names:
            raise TypeError(f"args {what} {', '.join(sorted(names))}: the kernel takes ({', '.join(declared)})")
    described = Described(dims, [], {}, {}, {}, {}, sizes is not None)
    for parameter in parameters:
        value = made[parameter.name]
        if parameter.is_pointer:
            described.entries.append(_buffer(described, parameter, value, parameter.name in outputs, device))
        else:
            described.entries.append(_scalar(described, parameter, value))
    return described


def _scalar(described: Described, parameter: Parameter, value: Any) -> Dict[str, Any]:
    if isinstance(value, (Draw, str)) or _is_array(value):
        raise TypeError(f"args: {parameter.name} is a number of type {parameter.type}, given is {type(value).__name__}")
    if parameter.type not in _FLOATING and isinstance(value, float) and not value.is_integer():
        raise TypeError(f"args: {parameter.name} is a number of type {parameter.type}, given is {value!r}")
    described.numbers[parameter.name] = value
    if isinstance(value, Value):
        written: Any = value.text
    else:
        written = float(value)
        written = int(written) if written.is_integer() and abs(written) < 2**53 else written
    return {"name": parameter.name, "type": parameter.type, "value": written}


def _buffer(described: Described, parameter: Parameter, value: Any, is_output: bool, device: Tuple[str, int]) -> Dict[str, Any]:
    key = parameter.name
    if is_output and parameter.is_const:
        raise TypeError(f"out: the kernel takes {key} as const: it cannot be an output")
    entry: Dict[str, Any] = {"name": key}
    if isinstance(value, Draw):
        shape, element = value.shape, value.dtype or parameter.type
    elif _is_array(value):
        shape, element = tuple(map(int, value.shape)), _element_of(key, value, parameter, device)
    else:
        raise TypeError(f"args: {key} is a buffer of {parameter.type}: give rng.normal(N), an array or the like, not {value!r}")
    described.symbols[key] = shape
    described.shapes[key] = lambda size: tuple(_at(extent, size) for extent in shape)
    count: Any = shape[0]
    for extent in shape[1:]:
        count = count * extent
    entry.update(type=f"{element}*", count=count.text if isinstance(count, Value) else count)
    if parameter.align:
        entry["align"] = parameter.align
    if not isinstance(value, Draw):
        file = f"{key}.npy"
        described.files[file] = _host(value)
        entry["fill"] = {"npy": file}
    elif value.fill is not None and not (is_output and value.initial):
        entry["fill"] = value.fill
    if is_output:
        is_read = not isinstance(value, Draw) or (value.fill is not None and not value.initial)
        entry["role"] = "inout" if is_read else "output"
        if isinstance(value, Draw) and value.initial:
            entry["initial"] = value.initial
    elif isinstance(value, Draw) and value.fill is None:
        raise TypeError(f"args: {key} is rng.empty(…), but no output: name it in out, or give it a content such as rng.normal(…)")
    return entry


def _element_of(key: str, value: Any, parameter: Parameter, device: Tuple[str, int]) -> str:
    try:
        view = _arrays.view(value)
    except ValueError as error:
        raise ValueError(f"args: {key}: {error}") from None
    if not view.is_contiguous:
        raise ValueError(f"args: {key} is not contiguous (shape {view.shape}, strides {view.strides}): a kernel that takes an "
                         "address would read other elements; pass a contiguous copy, such as numpy.ascontiguousarray(…) or "
                         "….contiguous()")
    if view.backend == "cuda" and device[0] == "cuda" and view.device != device[1]:
        raise ValueError(f"args: {key} is on GPU {view.device}, tuned is on GPU {device[1]}: move it, or pass device={view.device}")
    if view.element != parameter.type and (view.element, parameter.type) != ("float", "tf32"):
        raise TypeError(f"args: {key} has elements of type {view.element}, the kernel takes {parameter.type}*: convert the array")
    return view.element


def _host(value: Any) -> Any:
    """The elements in the host's memory, as NumPy has them; of a type that it lacks their bits."""
    if _arrays.is_torch(value):
        value = value.detach().cpu().contiguous()
        element = _arrays.view(value).element
        if element.startswith("__nv"):
            torch = __import__("torch")
            return value.view(torch.int16 if BYTES[element] == 2 else torch.uint8).numpy().view(f"u{BYTES[element]}")
        return value.numpy()
    if _arrays.maker(value) == "cupy":
        return value.get()
    if isinstance(value, numpy.ndarray):
        return value
    return numpy.from_dlpack(value) if hasattr(value, "__dlpack__") else numpy.asarray(value)
