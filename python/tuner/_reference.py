# SPDX-License-Identifier: Apache-2.0
"""A Python function as the reference of a kernel: evaluated before a run, on the inputs that `tune` asks for."""

from __future__ import annotations

import contextlib
import inspect
import json
import pathlib
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy

from . import _arrays, _safetensors
from ._library import Error
from ._memory import release_where_scarce

_LIBRARIES = ("torch", "cupy", "numpy")


class BadReference(Error):
    """What is wrong with a reference function, and how to correct it."""

    __module__ = "tuner"


def library_of(function: Callable[..., Any]) -> str:
    """The library whose functions a function calls, as far as its names tell: "torch", "cupy" or "numpy"."""
    modules = {value.__name__.partition(".")[0] for value in _named(function, 3) if isinstance(value, types.ModuleType)}
    modules |= {str(getattr(value, "__module__", "")).partition(".")[0] for value in _named(function, 3)}
    return next((library for library in _LIBRARIES if library in modules), "numpy")


def _named(function: Any, depth: int) -> Iterator[Any]:
    """What a function names, and the functions among them name."""
    code = getattr(function, "__code__", None)
    if code is None or depth == 0:
        if not isinstance(function, types.FunctionType):
            yield function
        return
    codes = [code, *(each for each in code.co_consts if isinstance(each, types.CodeType))]
    names = {name for each in codes for name in each.co_names}
    closed = dict(inspect.getclosurevars(function).nonlocals) if isinstance(function, types.FunctionType) else {}
    for value in [*(function.__globals__[name] for name in names if name in function.__globals__), *closed.values()]:
        yield value
        if isinstance(value, types.FunctionType):
            yield from _named(value, depth - 1)


class Reference:
    """Evaluates a function on inputs from files."""

    def __init__(self, function: Callable[..., Any], parameters: Sequence[str], outputs: Sequence[str],
                 shapes: Mapping[str, Callable[[Mapping[str, int]], Tuple[int, ...]]], device: Tuple[str, int], needed: int = 0) -> None:
        self._function, self._outputs, self._shapes = function, list(outputs), shapes
        self.library = library_of(function)
        self._device = device
        self._needed = needed  # bytes, by the program beside this process
        self._wanted = self._parameters(parameters)
        self._repeated: set[str] = set()  # sizes at which it was evaluated twice
        self._failure: Optional[BaseException] = None

    def _parameters(self, known: Sequence[str]) -> List[str]:
        """What it takes by name; besides, as **arguments, all that has a content."""
        declared = inspect.signature(self._function).parameters.values()
        names = [it.name for it in declared if it.kind in (it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY)]
        takes_all = any(it.kind == it.VAR_KEYWORD for it in declared)
        self._others = [name for name in known if name not in names] if takes_all else []
        unknown = [name for name in names if name not in known]
        if unknown or not (names or takes_all):
            raise TypeError(f"reference takes ({', '.join(names)}): its parameters must be named as those of the kernel, "
                            f"({', '.join(known)})")
        return names

    def serve(self, lines: Iterator[str], answer: Callable[[str], None], told: Callable[[int], None]) -> Dict[str, Any]:
        """Answers all requests of `tune space results` and returns what it says in the end. Raises what the function
        raised, with what was asked of it."""
        count = 0
        last: Dict[str, Any] = {}
        for line in lines:
            last = json.loads(line)
            if "inputs" not in last:
                continue
            try:
                results = self._answer(pathlib.Path(last["inputs"]), pathlib.Path(last["results"]))
                release_where_scarce(*self._device, self._needed)
                answer(results)
            except BaseException as error:
                answer(f"failed: {type(error).__name__}: {error}")
                raise
            count += 1
            told(count)
        return last

    def _answer(self, inputs: pathlib.Path, results: pathlib.Path) -> str:
        texts, arrays = _safetensors.read(inputs)
        size = _size_of(texts)
        where = texts["inputs"]
        in_double = texts["precision"] == "double"
        wanted = json.loads(texts["outputs"])
        try:
            found = self._evaluated(arrays, size, where)
            if not in_double and str(size) not in self._repeated:
                self._repeated.add(str(size))
                self._require_repeatable(found, arrays, size, where)
            bits = {name: (wanted[name]["dtype"], self._stored(name, found[name], wanted[name], size, where))
                    for name in self._outputs}
        except BadReference as error:
            if in_double:  # it computes in the precision of the kernel alone
                return f"refused: {error}"
            raise
        except Exception as error:  # pylint: disable=broad-except  # a function of the user may raise anything
            if texts["law"] or in_double:
                return f"refused: {type(error).__name__}: {error}"
            raise BadReference(f"the reference raised {type(error).__name__}: {error} ({where}): correct it, or give the "
                                  "inputs in args contents that it takes") from error
        _safetensors.write(results, bits)
        return "ok"

    def _evaluated(self, arrays: Mapping[str, Tuple[str, Any]], size: Mapping[str, int], where: str) -> Dict[str, Any]:
        given = {name: self._given(name, *arrays[name], size) for name in (*self._wanted, *self._others) if name in arrays}
        missing = [name for name in self._wanted if name not in arrays]
        if missing:
            raise BadReference(f"reference takes {', '.join(missing)}, whose content no kernel reads: an output that the kernel "
                                  "updates needs a content in args, such as rng.normal(N)")
        before = {name: _copy(value) for name, value in given.items()}
        with self._settings():
            made = self._function(**given)
        for name, value in given.items():
            if name not in self._outputs and not _equal(before[name], value):
                raise BadReference(f"the reference changes its input {name} ({where}): let it work on a copy")
        return self._by_name(made, where)

    def _by_name(self, made: Any, where: str) -> Dict[str, Any]:
        if made is None:
            raise BadReference(f"the reference returns None ({where}): it must return {_listed(self._outputs)}, also where it "
                                  "updates an array in place")
        if isinstance(made, Mapping):
            lacking = [name for name in self._outputs if name not in made]
            if lacking:
                raise BadReference(f"the reference returns a dict without {', '.join(lacking)} ({where})")
            return dict(made)
        several = made if isinstance(made, (tuple, list)) and len(self._outputs) > 1 else [made]
        if len(several) != len(self._outputs):
            raise BadReference(f"the reference returns {len(several)} results ({where}); the outputs are "
                                  f"{', '.join(self._outputs)}")
        return dict(zip(self._outputs, several))

    def _given(self, name: str, kind: str, bits: Any, size: Mapping[str, int]) -> Any:
        """An argument as the function takes it: a number, or an array of its library in the shape of the generator."""
        if bits.ndim == 0:
            return bits.item()
        shape = self._shapes[name](size)
        if self.library == "torch":
            return _torch_tensor(kind, bits, shape, self._device)
        array = (_safetensors.widened(bits, kind) if kind in _safetensors.NARROW else bits.copy()).reshape(shape)
        return sys.modules["cupy"].asarray(array) if self.library == "cupy" else array

    @contextlib.contextmanager
    def _settings(self) -> Iterator[None]:
        """The results that are right: no TF32, no gradients."""
        torch = sys.modules.get("torch") if self.library == "torch" else None
        if torch is None:
            with numpy.errstate(all="ignore"):
                yield
            return
        allowed = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        try:
            with torch.no_grad():
                yield
        finally:
            torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = allowed

    def _require_repeatable(self, found: Mapping[str, Any], arrays: Mapping[str, Tuple[str, Any]], size: Mapping[str, int],
                            where: str) -> None:
        again = self._evaluated(arrays, size, where)
        for name in self._outputs:
            if not _equal(_copy(found[name]), again[name]):
                raise BadReference(f"the reference gives another {name} each time on equal inputs ({where}), as a function that "
                                      "reads a clock, draws random numbers or keeps a state: make it a function of its arguments")

    def _stored(self, name: str, value: Any, wanted: Mapping[str, Any], size: Mapping[str, int], where: str) -> Any:
        """A result as bits of the output's type."""
        kind, shape = wanted["dtype"], self._shapes[name](size)
        if not _is_array(value):
            raise BadReference(f"the reference returns {type(value).__name__} for {name} ({where}): it must be an array")
        self._require_device(name, value, where)
        if tuple(value.shape) not in (shape, (wanted["count"],)):
            raise BadReference(f"the reference returns {name} in the shape {tuple(value.shape)} ({where}); the output has {shape}")
        array, its_kind = _host(value)
        bits = _converted(array, its_kind, kind)
        if bits is None:
            raise BadReference(f"the reference returns {name} of type {its_kind} ({where}); the output is of type {kind}: convert "
                                  "the result")
        return bits.reshape(-1)

    def _require_device(self, name: str, value: Any, where: str) -> None:
        """That a reference worked where its inputs are. What it converted to NumPy says nothing of that."""
        made = _arrays.view(value)
        is_elsewhere = made.device != self._device[1] if made.backend == "cuda" else self.library == "torch" and _arrays.is_torch(value)
        if self._device[0] != "cuda" or not is_elsewhere:
            return
        place = f"GPU {made.device}" if made.backend == "cuda" else "the CPU"
        raise BadReference(f"the reference returns {name} on {place} ({where}); its inputs are on GPU {self._device[1]}: let it keep "
                           "their device")


def _size_of(texts: Mapping[str, str]) -> Dict[str, int]:
    return dict(json.loads(texts["size"]))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _torch_tensor(kind: str, bits: Any, shape: Tuple[int, ...], device: Tuple[str, int]) -> Any:
    torch = __import__("torch")
    types_ = {"BF16": torch.bfloat16, "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2}
    signed = bits.view(f"<i{bits.itemsize}") if bits.itemsize > 1 and kind in ("BF16", "U16", "U32", "U64") else bits
    tensor = torch.from_numpy(signed.copy())
    if kind in types_:
        tensor = tensor.view(types_[kind])
    elif kind in ("U16", "U32", "U64"):
        tensor = tensor.view(getattr(torch, f"uint{kind[1:]}"))
    place = torch.device("cuda", device[1]) if device[0] == "cuda" else torch.device("cpu")
    return tensor.reshape(shape).to(place)


def _host(value: Any) -> Tuple[Any, str]:
    """A result in the host's memory: numbers or, of a type that NumPy lacks, bits; and the name of the type."""
    if _arrays.is_torch(value):
        torch = sys.modules["torch"]
        names = {torch.bfloat16: "BF16", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2"}
        value = value.detach().cpu().contiguous()
        if value.dtype in names:
            bits = value.view(torch.int16 if value.element_size() == 2 else torch.uint8).numpy()
            return bits.view(_safetensors.stored_dtype(names[value.dtype])), names[value.dtype]
        value = value.numpy()
    elif _arrays.maker(value) == "cupy":
        value = value.get()
    value = numpy.asarray(value)
    known = {code.lstrip("<|"): name for name, code in _safetensors.DTYPES.items()}
    return value, known.get(value.dtype.str.lstrip("<|=>"), value.dtype.name)


def _converted(array: Any, its_kind: str, kind: str) -> Any:
    """Bits of the type; None where the conversion would lose what a result must not lose."""
    array = numpy.ascontiguousarray(array)
    if its_kind == kind:
        return array
    if array.dtype.kind == "b" and kind in ("U8", "I8", "I32"):
        return array.astype(_safetensors.stored_dtype(kind))
    is_float, wants_float = its_kind.startswith(("F", "BF")), kind.startswith(("F", "BF"))
    if is_float != wants_float or its_kind not in (*_safetensors.DTYPES, *_safetensors.NARROW):
        return None
    if not is_float:
        limits = numpy.iinfo(_safetensors.stored_dtype(kind))
        if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
            return None
        return array.astype(_safetensors.stored_dtype(kind))
    if _precision(its_kind) < _precision(kind):
        return None
    if its_kind in _safetensors.NARROW:
        array = _safetensors.widened(array, its_kind)
    if kind in _safetensors.NARROW:
        return _safetensors.narrowed(array, kind)
    return array.astype(_safetensors.stored_dtype(kind))


def _precision(kind: str) -> int:
    return {"F64": 53, "F32": 24, "F16": 11, "BF16": 8, "F8_E4M3": 4, "F8_E5M2": 3}[kind]


def _copy(value: Any) -> Any:
    if _arrays.is_torch(value):
        return value.clone()
    return value.copy() if hasattr(value, "copy") else value


def _equal(before: Any, after: Any) -> bool:
    """Whether two arrays have the same bits; compared where they are."""
    if not _is_array(before):
        return True
    if _arrays.is_torch(before) and _arrays.is_torch(after) and before.device == after.device:
        return before.dtype == after.dtype and before.shape == after.shape and \
            bool(sys.modules["torch"].equal(*(each.detach().contiguous().reshape(-1).view(sys.modules["torch"].uint8) for each in (before, after))))
    first, second = (numpy.ascontiguousarray(_host(value)[0]) for value in (before, after))
    return first.shape == second.shape and first.dtype == second.dtype and \
        numpy.array_equal(first.reshape(-1).view("u1"), second.reshape(-1).view("u1"))
