# SPDX-License-Identifier: Apache-2.0
"""Arrays of any library as addresses, shapes and strides; their streams and devices."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import math
import sys
from typing import Any, ContextManager, Dict, Optional, Tuple

# The element types of space files, by the names that libraries have for them.
ELEMENTS = {"f4": "float", "f8": "double", "f2": "__half", "i1": "signed char", "i2": "short", "i4": "int",
            "i8": "long long", "u1": "unsigned char", "u2": "unsigned short", "u4": "unsigned",
            "u8": "unsigned long long"}
TORCH_ELEMENTS = {"float32": "float", "float64": "double", "float16": "__half", "bfloat16": "__nv_bfloat16",
                   "float8_e4m3fn": "__nv_fp8_e4m3", "float8_e5m2": "__nv_fp8_e5m2", "int8": "signed char",
                   "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
                   "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long"}
_CODES = {element: code for code, element in ELEMENTS.items()}
_TORCH_NAMES = {element: name for name, element in TORCH_ELEMENTS.items()}
_BYTES = {"float": 4, "double": 8, "__half": 2, "__nv_bfloat16": 2, "__nv_fp8_e4m3": 1, "__nv_fp8_e5m2": 1,
          "signed char": 1, "short": 2, "int": 4, "long long": 8, "unsigned char": 1, "unsigned short": 2,
          "unsigned": 4, "unsigned long long": 8}


@dataclasses.dataclass(frozen=True)
class View:
    """An array in memory. `owner` keeps that memory."""

    pointer: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # elements
    element: str              # as in a space file; another library's name where those have none
    backend: str              # "cpu" or "cuda"
    device: int
    owner: Any
    is_writable: bool = True
    stream: Optional[int] = None  # on which the producer works, where it says so

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def element_bytes(self) -> int:
        """Of a type of space files; 16, which no type exceeds, of another."""
        return _BYTES.get(self.element, 16)

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in memory one after the other, the last index running fastest."""
        return self.size == 0 or all(n == 1 or stride == math.prod(self.shape[i + 1:])
                                     for i, (n, stride) in enumerate(zip(self.shape, self.strides)))

    @property
    def first(self) -> int:
        """Elements from the lowest element in memory to the first one: 0 but for negative strides."""
        return sum((n - 1) * -stride for n, stride in zip(self.shape, self.strides) if stride < 0 and n > 0)

    @property
    def extent(self) -> int:
        """Elements from the first to the last in memory; 0 for an array without elements."""
        if self.size == 0:
            return 0
        return 1 + sum((n - 1) * abs(stride) for n, stride in zip(self.shape, self.strides))

    @property
    def has_own_elements(self) -> bool:
        """Whether no place in memory is two of its elements, as far as the strides in order tell."""
        reach = 0
        for stride, n in sorted((abs(stride), n) for n, stride in zip(self.shape, self.strides) if n > 1):
            if stride <= reach:
                return False
            reach += (n - 1) * stride
        return True

    def overlaps(self, other: View) -> bool:
        def span(view: View) -> Tuple[int, int]:
            begin = view.pointer - view.first * view.element_bytes
            return begin, begin + view.extent * view.element_bytes

        (begin, end), (other_begin, other_end) = span(self), span(other)
        return begin < other_end and other_begin < end


def maker(array: Any) -> str:
    """The library that made an array: "numpy", "cupy", "torch" or another's name."""
    return type(array).__module__.partition(".")[0]


def is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def view(array: Any) -> View:
    """What an array is. Raises TypeError for what is no array, ValueError for one that cannot be viewed."""
    if is_torch(array):
        return _torch_view(array)
    if hasattr(array, "__cuda_array_interface__"):
        return _interface_view(array, array.__cuda_array_interface__, "cuda", _device_index(array))
    if hasattr(array, "__array_interface__"):
        return _interface_view(array, array.__array_interface__, "cpu", 0)
    if hasattr(array, "__dlpack__"):
        return _dlpack_view(array)
    raise TypeError(f"{type(array).__name__} is no array: it has none of __cuda_array_interface__, "
                    "__array_interface__ and __dlpack__")


def _torch_view(tensor: Any) -> View:
    torch = sys.modules["torch"]
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError("a tensor requires a gradient, which tuner does not record: use tuner.torch.enable(), or "
                         "torch.no_grad()")
    if tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
        raise ValueError("a tensor is sparse, or conjugated or negated lazily: it is no plain memory")
    if tensor.device.type not in ("cpu", "cuda"):
        raise ValueError(f"a tensor is on {tensor.device}: only cpu and cuda are served")
    name = str(tensor.dtype).partition(".")[2]
    return View(tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), TORCH_ELEMENTS.get(name, name),
                tensor.device.type, tensor.device.index or 0, tensor)


def _device_index(array: Any) -> int:
    return int(array.__dlpack_device__()[1]) if hasattr(array, "__dlpack_device__") else 0


def _interface_view(array: Any, interface: Dict[str, Any], backend: str, device: int) -> View:
    typestr, shape = interface["typestr"], tuple(interface["shape"])
    size = int(typestr[2:])
    strides = interface.get("strides")
    if strides is None:
        strides = tuple(math.prod(shape[i + 1:]) * size for i in range(len(shape)))
    if any(stride % size for stride in strides):
        raise ValueError("the strides of an array are no multiples of its elements")
    if interface.get("data") is None:
        raise ValueError("an array does not say where its data are")
    pointer, is_read_only = interface["data"]
    element = ELEMENTS.get(typestr[1:], typestr) if typestr[0] in "<|=" else typestr
    return View(pointer, shape, tuple(stride // size for stride in strides), element, backend, device, array,
                not is_read_only, interface.get("stream"))


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_DLPACK_ELEMENTS = {(0, 8): "signed char", (0, 16): "short", (0, 32): "int", (0, 64): "long long",
                    (1, 8): "unsigned char", (1, 16): "unsigned short", (1, 32): "unsigned",
                    (1, 64): "unsigned long long", (2, 16): "__half", (2, 32): "float", (2, 64): "double",
                    (4, 16): "__nv_bfloat16"}
_DLPACK_BACKENDS = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}  # 3: pinned, 13: managed memory


def _dlpack_view(array: Any) -> View:
    kind, index = array.__dlpack_device__()
    if kind not in _DLPACK_BACKENDS:
        raise ValueError(f"an array is on a device of DLPack's kind {kind}: only cpu and cuda are served")
    backend = _DLPACK_BACKENDS[kind]
    capsule = array.__dlpack__() if backend == "cpu" else array.__dlpack__(stream=1)
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.argtypes, pointer_of.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    # The capsule is not consumed: it frees what it holds when it goes, which `owner` prevents.
    tensor = _DLTensor.from_address(pointer_of(capsule, b"dltensor"))
    shape = tuple(tensor.shape[:tensor.ndim])
    if tensor.strides:
        strides = tuple(tensor.strides[:tensor.ndim])
    else:
        strides = tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))
    element = _DLPACK_ELEMENTS.get((tensor.code, tensor.bits), f"DLPack type {tensor.code} of {tensor.bits} bits")
    return View((tensor.data or 0) + tensor.byte_offset, shape, strides, element, backend,
                index if backend == "cuda" else 0, (array, capsule))


def empty_like(array: Any, shape: Tuple[int, ...], element: str) -> Any:
    """A new array of the library and device of `array`, with elements of a type."""
    if is_torch(array):
        return array.new_empty(shape, dtype=getattr(sys.modules["torch"], _TORCH_NAMES[element]))
    if maker(array) in ("numpy", "cupy"):
        return sys.modules[maker(array)].empty(shape, _CODES[element])
    raise TypeError(f"arrays of {maker(array)} cannot be made here: pass out=")


def contiguous(array: Any) -> Any:
    """A row-major copy."""
    if is_torch(array):
        return array.contiguous()
    if maker(array) in ("numpy", "cupy"):
        return sys.modules[maker(array)].ascontiguousarray(array)
    raise ValueError(f"an array of {maker(array)} has strides that no product takes: make it contiguous")


def assign(to: Any, source: Any) -> None:
    """to[...] = source."""
    if is_torch(to):
        to.copy_(source)
    else:
        to[...] = source


def current_stream(array: Any, of: View) -> int:
    """The stream on which the array's library works now, as a number; 0 is the default stream."""
    if of.backend == "cpu":
        return 0
    if is_torch(array):
        return int(sys.modules["torch"].cuda.current_stream(of.device).cuda_stream)
    if maker(array) == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return of.stream or 0


def on_device(array: Any, of: View) -> ContextManager[Any]:
    """Makes the array's device the current one of its library."""
    context: ContextManager[Any] = contextlib.nullcontext()
    if of.backend == "cuda" and is_torch(array):
        context = sys.modules["torch"].cuda.device(of.device)
    elif of.backend == "cuda" and maker(array) == "cupy":
        context = sys.modules["cupy"].cuda.Device(of.device)
    return context
