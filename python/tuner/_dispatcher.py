# SPDX-License-Identifier: Apache-2.0
"""One device and one table of tuned results."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import struct
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _arrays, _capture, _library
from ._library import ARRAY, POINTER, Error, check

Size = Union[int, Sequence[int]]
Path = Union[str, "os.PathLike[str]"]

_NUMBERS = {_library.INT: "i", _library.UNSIGNED: "I", _library.LONG_LONG: "q", _library.FLOAT: "f",
            _library.DOUBLE: "d"}
_NAMES = ("array", "int", "unsigned", "long long", "float", "double", "array by value")
_RUNGS = ("exact", "stale", "nearest", "library_tuned", "library", "default")
_MODES = ("any", "exact", "pinned")
_FORMATS = {"float": "f", "double": "d", "int": "i", "unsigned": "I", "long long": "q", "unsigned long long": "Q",
            "short": "h", "unsigned short": "H", "signed char": "b", "unsigned char": "B", "__half": "e"}


@dataclasses.dataclass(frozen=True)
class Table:
    """Where tuned results come from: read when a Dispatcher is opened, and by its reload()."""

    _kind: int
    _where: Optional[str]

    @staticmethod
    def database(path: Optional[Path] = None) -> Table:
        """A database of `tune`; by default $TUNER_DB, else the user's."""
        return Table(0, None if path is None else os.fspath(path))

    @staticmethod
    def file(path: Path) -> Table:
        """A file that `tune export --format json` wrote."""
        return Table(1, os.fspath(path))

    @staticmethod
    def text(document: str) -> Table:
        """The text of such a file."""
        return Table(2, document)

    @staticmethod
    def empty() -> Table:
        """Nothing: the library answers."""
        return Table(3, None)

    def _struct(self) -> _library.TableStruct:
        return _library.TableStruct(self._kind, None if self._where is None else os.fsencode(self._where))


@dataclasses.dataclass(frozen=True)
class Answer:
    """What would run for a size."""

    rung: str           #: "exact", "stale", "nearest", "library_tuned", "library" or "default"
    kernel: str         #: empty: the library
    configuration: str  #: a JSON object; empty: the library
    explanation: str    #: why; one reason for each line
    expected_ns: Optional[float]  #: of a launch, where it is known
    distance: float     #: from the tuned size: the largest |ln(asked / tuned)|
    prepared: bool      #: a launch compiles and loads nothing
    saved_ns: float     #: by which the library's own choice is expected to take longer; 0: not known


@dataclasses.dataclass(frozen=True)
class Served:
    """What launches ran, since the dispatcher was opened."""

    family: str     #: of products without a family in the table: "gemm"
    rung: str       #: as of an Answer
    is_tuned: bool  #: something was tuned at the very size
    sizes: int      #: that were prepared for it; a size anew after it was dropped
    launches: int   #: so far; in a graph, of the capture


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a launch, as the space file declares it."""

    name: str
    type: str        #: "array", "int", "unsigned", "long long", "float", "double", "array by value"
    element: str     #: of an array: the type of its elements, as in C++
    elements: int    #: of an array: how many the size needs
    is_written: bool  #: of an array: a kernel changes it
    _type: int = dataclasses.field(repr=False)


def _numbers(size: Size) -> bytes:
    try:
        numbers = tuple(size) if hasattr(size, "__iter__") else (size,)
        return struct.pack(f"{len(numbers)}q", *numbers)
    except struct.error:
        raise TypeError(f"a size is a whole number or several, not {size!r}") from None


class Dispatcher:
    """One device and one table, for any number of threads and streams.

    It lives until close(), or as long as the process: memory on the device may be in use by what was
    launched. After os.fork() the child opens one of its own.
    """

    def __init__(self, table: Optional[Table] = None, *, backend: str = "cuda", device: int = 0,
                 refuse_stale: bool = False, cache: Optional[Path] = None, mode: str = "any",
                 pins: Optional[Path] = None) -> None:
        """Opens a device.

        table: by default the user's database, with the shipped table for sizes that it does not have.
        backend: "cuda", or "cpu" for arrays in the host's memory.
        refuse_stale: use nothing that was measured with another driver or compiler.
        cache: folder of compiled kernels; by default the user's.
        mode: "exact": what was tuned for the very size, else the library, or where there is none an Error; never a measurement.
              "pinned": the choices of the file `pins`, which pin() wrote; one that cannot be used is an Error.
        """
        self._library = _library.library()
        self.backend, self.device = backend, device
        self._handle = ctypes.c_void_p()
        self._families: Dict[str, int] = {}
        self._arguments: Dict[Tuple[str, bytes], List[Argument]] = {}
        if mode not in _MODES:
            raise ValueError(f"mode is {mode!r}, neither of {', '.join(map(repr, _MODES))}")
        options = _library.Options(ctypes.sizeof(_library.Options), backend.encode(), device, int(refuse_stale),
                                   None if cache is None else os.fsencode(cache), mode=_MODES.index(mode), pins=None if pins is None else os.fsencode(pins))
        check(self._library.tuner_open((table or Table.database())._struct(), ctypes.byref(options),
                                       ctypes.byref(self._handle)))

    def close(self) -> None:
        """Frees the device's kernels. Nothing that was launched may still run; no graph of it be used later."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._library.tuner_close(handle)

    def __enter__(self) -> Dispatcher:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def reload(self, table: Optional[Table] = None) -> None:
        """Reads another table, while other threads launch."""
        check(self._library.tuner_reload(self._handle, (table or Table.database())._struct()))
        self._families, self._arguments = {}, {}

    def _family(self, name: str) -> int:
        known = self._families.get(name)
        if known is None:
            number = ctypes.c_uint32()
            check(self._library.tuner_find_family(self._handle, name.encode(), ctypes.byref(number)))
            known = self._families[name] = number.value
        return known

    def prepare(self, family: str, sizes: Sequence[Size], *, measure: bool = False) -> None:
        """Compiles and loads ahead of the first launch. measure: choose among the kernels for sizes that
        were never tuned by timing them. Raises Error naming each size that nothing can serve."""
        self._prepare(self._family(family), [_numbers(size) for size in sizes], measure)

    def _prepare(self, family: int, sizes: List[bytes], measure: bool) -> None:
        structs = (_library.SizeStruct * len(sizes))(*(_library.SizeStruct(size, len(size) // 8) for size in sizes))
        choose_by = _library.CHOOSE_BY_MEASUREMENT if measure else _library.CHOOSE_BY_EXPECTATION
        check(self._library.tuner_prepare(self._handle, family, structs, len(sizes), choose_by, None))

    def answer(self, family: str, size: Size) -> Answer:
        """What launch() would run, and why."""
        return self._answer(self._family(family), _numbers(size))

    def _answer(self, family: int, numbers: bytes) -> Answer:
        info = _library.AnswerInfo(ctypes.sizeof(_library.AnswerInfo))
        check(self._library.tuner_answer(self._handle, family, numbers, len(numbers) // 8, ctypes.byref(info)))
        return Answer(_RUNGS[info.rung], info.kernel.decode(), info.configuration.decode(),
                      info.explanation.decode(), None if info.expected_ns < 0 else info.expected_ns, info.distance,
                      bool(info.prepared), info.saved_ns)

    def served(self) -> List[Served]:
        """What served the launches so far. Where all are of tuned sizes, the table was complete for this program."""
        infos, count = ctypes.POINTER(_library.ServedInfo)(), ctypes.c_size_t()
        check(self._library.tuner_served(self._handle, ctypes.sizeof(_library.ServedInfo), ctypes.byref(infos),
                                         ctypes.byref(count)))
        return [Served(it.family.decode(), _RUNGS[it.rung], bool(it.is_tuned), it.sizes, it.launches)
                for it in infos[:count.value]]

    def pin(self, file: Path) -> None:
        """Writes the choices in force, for other processes with mode="pinned"."""
        check(self._library.tuner_pin(self._handle, os.fsencode(file)))

    def _find_gemm(self, problem: _library.GemmProblem) -> Optional[Tuple[int, bytes]]:
        """Family and size of a product; None where the library serves it whatever was tuned."""
        family, numbers, count = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_int64)(), ctypes.c_size_t()
        check(self._library.tuner_find_gemm(self._handle, ctypes.byref(problem), ctypes.byref(family),
                                            ctypes.byref(numbers), ctypes.byref(count)))
        return (family.value, _numbers(numbers[:count.value])) if count.value else None

    def arguments(self, family: str, size: Size) -> List[Argument]:
        """What launch() takes at a size, in order."""
        return list(self._arguments_of(family, _numbers(size)))

    def _arguments_of(self, family: str, numbers: bytes) -> List[Argument]:
        known = self._arguments.get((family, numbers))
        if known is None:
            infos, count = ctypes.POINTER(_library.ArgumentInfo)(), ctypes.c_size_t()
            check(self._library.tuner_arguments(self._handle, self._family(family), numbers, len(numbers) // 8,
                                                ctypes.sizeof(_library.ArgumentInfo), ctypes.byref(infos),
                                                ctypes.byref(count)))
            known = [Argument(it.name.decode(), _NAMES[it.type], it.element.decode(), it.elements,
                              bool(it.is_written), it.type) for it in infos[:count.value]]
            if len(self._arguments) > 4096:
                self._arguments.clear()
            self._arguments[family, numbers] = known
        return known

    def launch(self, family: str, size: Size, *arguments: Any, stream: Optional[int] = None) -> None:
        """Enqueues the best kernel, or the library.

        arguments: those of the space file in its order, without those that the size decides. Arrays must
        be contiguous, of the declared element type, on this device, and have the elements that the size needs.
        stream: a cudaStream_t as a number; by default the current one of the first array's library.
        """
        numbers = _numbers(size)
        infos = self._arguments_of(family, numbers)
        if len(infos) != len(arguments):
            raise TypeError(f"{family} takes ({', '.join(f'{it.type} {it.name}' for it in infos)}), "
                            f"{len(arguments)} are given")
        kept: List[Any] = []  # alive until the call returns
        packed = b"".join(self._pack(family, info, value, kept) for info, value in zip(infos, arguments))
        arrays = [it for it in kept if isinstance(it, _arrays.View)]
        original = next((value for info, value in zip(infos, arguments) if info._type == POINTER), None)
        if stream is None:
            stream = _arrays.current_stream(original, arrays[0]) if arrays else 0
        given = (self._handle, self._family(family), numbers, len(numbers) // 8, packed, len(infos), stream)
        with _arrays.on_device(original, arrays[0]) if arrays else contextlib.nullcontext():
            captured = _capture.take(family, lambda: self.answer(family, size).kernel)
            if captured is None:
                check(self._library.tuner_launch(*given))
                return
            check(self._library.tuner_capture_launch(*given, os.fsencode(captured.folder), captured.limit_bytes, None))
            captured.space = captured.folder / "space.json"

    def _pack(self, family: str, info: Argument, value: Any, kept: List[Any]) -> bytes:
        """As a tuner_argument."""
        what = f"{family}: {info.name}"
        if info._type == POINTER:
            array = _arrays.view(value)
            self._check_array(what, info, array)
            kept.append(array)
            return struct.pack("i4xQ", info._type, array.pointer)
        if info._type == ARRAY:
            elements = _host_elements(what, info, value)
            kept.append(elements)
            return struct.pack("i4xQ", info._type, ctypes.addressof(elements))
        try:
            number = struct.pack(f"i4x{_NUMBERS[info._type]}", info._type, value)
        except (struct.error, TypeError, OverflowError):
            raise TypeError(f"{what} is a number of type {info.type}, given is {value!r}") from None
        return number.ljust(16, b"\0")

    def _check_array(self, what: str, info: Argument, array: _arrays.View) -> None:
        if array.element != info.element and not (info.element == "tf32" and array.element == "float"):
            raise TypeError(f"{what} has elements of type {info.element}, given are {array.element}")
        if (array.backend, array.device) != (self.backend, self.device):
            raise ValueError(f"{what} is on {array.backend} {array.device}, the dispatcher on {self.backend} "
                             f"{self.device}")
        if not array.is_contiguous:
            raise ValueError(f"{what} is not contiguous, which a kernel cannot know: pass a contiguous copy")
        if array.size < info.elements:
            raise ValueError(f"{what} needs {info.elements} elements at this size, given are {array.size}")
        if info.is_written and not array.is_writable:
            raise ValueError(f"{what} is written by the kernel, given is a read-only array")


def _host_elements(what: str, info: Argument, value: Any) -> Any:
    """The elements of a sequence or of an array of the host, in memory."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if info.element not in _FORMATS:
        raise TypeError(f"{what} has elements of type {info.element}, which Python cannot pass by value")
    try:
        packed = struct.pack(f"{len(value)}{_FORMATS[info.element]}", *value)
    except (struct.error, TypeError, OverflowError):
        raise TypeError(f"{what} is a sequence of {info.element}, given is {value!r}") from None
    if len(value) < info.elements:
        raise ValueError(f"{what} needs {info.elements} elements at this size, given are {len(value)}")
    return ctypes.create_string_buffer(packed, max(len(packed), 1))


_lock = threading.Lock()
_defaults: Dict[Tuple[int, str, int], Dispatcher] = {}


def default_dispatcher(backend: str, device: int) -> Dispatcher:
    """That of matmul() for a device: the user's database, opened at the first call of this process."""
    key = os.getpid(), backend, device
    known = _defaults.get(key)
    if known is not None:
        return known
    with _lock:
        if key not in _defaults:
            _defaults[key] = _open_default(backend, device)
        return _defaults[key]


def _open_default(backend: str, device: int) -> Dispatcher:
    try:
        return Dispatcher(Table.database(), backend=backend, device=device)
    except Error:
        if os.environ.get("TUNER_DB") or _user_database().exists():
            raise
    return Dispatcher(Table.empty(), backend=backend, device=device)  # nothing was tuned yet


def _user_database() -> pathlib.Path:
    data = os.environ.get("XDG_DATA_HOME", "")
    return (pathlib.Path(data) if data.startswith("/") else pathlib.Path.home() / ".local/share") / "tune/tune.db"
