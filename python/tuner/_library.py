# SPDX-License-Identifier: Apache-2.0
"""libtuner_dispatch.so, by its C interface (tuner/dispatch/dispatch.h)."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import stat
from typing import Iterator

from ._version import VERSION

SONAME = "libtuner_dispatch.so." + ".".join(VERSION.split(".")[:2])


class Error(RuntimeError):
    """Why the library could not do what was asked: what, where, and how to correct it."""

    __module__ = "tuner"


class TableStruct(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("where", ctypes.c_char_p)]


_STRUCT_SIZE = ("struct_size", ctypes.c_size_t)  # in front of structs that get members in later versions: their sizeof


class Options(ctypes.Structure):
    _fields_ = [_STRUCT_SIZE, ("backend", ctypes.c_char_p), ("device", ctypes.c_int), ("refuse_stale", ctypes.c_int),
                ("cache", ctypes.c_char_p), ("compile_in", ctypes.c_int), ("compile_deadline_s", ctypes.c_int),
                ("compile_memory_bytes", ctypes.c_uint64), ("mode", ctypes.c_int), ("pins", ctypes.c_char_p)]


class SizeStruct(ctypes.Structure):
    _fields_ = [("numbers", ctypes.c_char_p), ("dimensions", ctypes.c_size_t)]


class AnswerInfo(ctypes.Structure):
    _fields_ = [_STRUCT_SIZE, ("rung", ctypes.c_int), ("kernel", ctypes.c_char_p), ("configuration", ctypes.c_char_p),
                ("explanation", ctypes.c_char_p), ("expected_ns", ctypes.c_double), ("distance", ctypes.c_double),
                ("prepared", ctypes.c_int), ("saved_ns", ctypes.c_double)]


class ServedInfo(ctypes.Structure):
    _fields_ = [("family", ctypes.c_char_p), ("rung", ctypes.c_int), ("is_tuned", ctypes.c_int), ("sizes", ctypes.c_uint64),
                ("launches", ctypes.c_uint64)]


class ArgumentInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("element", ctypes.c_char_p),
                ("elements", ctypes.c_int64), ("is_written", ctypes.c_int)]


class GemmProblem(ctypes.Structure):
    _fields_ = [_STRUCT_SIZE, ("type", ctypes.c_int), ("trans_a", ctypes.c_int), ("trans_b", ctypes.c_int),
                *[(name, ctypes.c_int64) for name in ("m", "n", "k", "lda", "ldb", "ldc", "batch", "stride_a",
                                                      "stride_b", "stride_c")],
                ("bias_kind", ctypes.c_int), ("activation", ctypes.c_int),
                ("bias", ctypes.c_void_p), ("residual", ctypes.c_void_p)]


CHOOSE_BY_EXPECTATION, CHOOSE_BY_MEASUREMENT = range(2)  # tuner_choose_by
# tuner_argument_type
POINTER, INT, UNSIGNED, LONG_LONG, FLOAT, DOUBLE, ARRAY = range(7)
# tuner_gemm_type by the type of A and B and that of C; where C has no type yet it gets the first.
GEMM_TYPES = {("float", "float"): 0, ("__nv_bfloat16", "__nv_bfloat16"): 1, ("__half", "__half"): 2,
              ("double", "double"): 3, ("signed char", "int"): 4, ("__nv_bfloat16", "float"): 5,
              ("__half", "float"): 6, ("__nv_fp8_e4m3", "__nv_bfloat16"): 8}
GEMM_TF32 = 7
BIAS_NONE, BIAS_PER_COLUMN = range(2)  # tuner_bias
# The types that C may have, by that of A and B.
GEMM_RESULTS = {operand: tuple(result for of, result in GEMM_TYPES if of == operand) for operand, _ in GEMM_TYPES}

# Sizes and arguments are passed as bytes that `struct` packed: no object for each number.
_CALLS = {
    "tuner_open": (TableStruct, ctypes.POINTER(Options), ctypes.POINTER(ctypes.c_void_p)),
    "tuner_reload": (ctypes.c_void_p, TableStruct),
    "tuner_find_family": (ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint32)),
    "tuner_prepare": (ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(SizeStruct), ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p),
    "tuner_answer": (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(AnswerInfo)),
    "tuner_served": (ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.POINTER(ServedInfo)), ctypes.POINTER(ctypes.c_size_t)),
    "tuner_pin": (ctypes.c_void_p, ctypes.c_char_p),
    "tuner_arguments": (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t,
                        ctypes.POINTER(ctypes.POINTER(ArgumentInfo)), ctypes.POINTER(ctypes.c_size_t)),
    "tuner_launch": (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                     ctypes.c_size_t, ctypes.c_void_p),
    "tuner_capture_launch": (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                             ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p),
    "tuner_gemm": (ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(GemmProblem), ctypes.c_double, ctypes.c_void_p,
                   ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p),
    "tuner_find_gemm": (ctypes.c_void_p, ctypes.POINTER(GemmProblem), ctypes.POINTER(ctypes.c_uint32),
                        ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)), ctypes.POINTER(ctypes.c_size_t)),
}


def _candidates() -> Iterator[pathlib.Path]:
    """Where the library may lie, the nearest first: the wheel, the sources or the prefix that this file is a part of."""
    package = pathlib.Path(__file__).resolve().parent
    yield package / "prefix/lib" / SONAME
    if (package.parents[1] / "tuner/dispatch/dispatch.h").exists():
        builds = package.parents[1].glob(f"build/*/**/{SONAME}")
        yield from sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)
    if len(package.parents) > 3:  # PREFIX/lib/python3/dist-packages/tuner
        for folder in ("lib", "lib64", f"lib/{os.uname().machine}-linux-gnu"):
            yield package.parents[3] / folder / SONAME


def _others_may_change(path: pathlib.Path) -> bool:
    """Whether the file, or the folder that it is in, belongs to another user or may be written by everybody."""
    real = path.resolve()
    states = [part.stat() for part in (real, real.parent)]
    return any(state.st_uid not in (os.geteuid(), 0) or state.st_mode & stat.S_IWOTH for state in states)


def library_path() -> str:
    """$TUNER_LIBRARY, else that of the prefix or build tree around the package, else the system's."""
    if named := os.environ.get("TUNER_LIBRARY"):
        return named
    found = (path for path in _candidates() if path.exists() and not _others_may_change(path))
    return str(next(found, SONAME))


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded at the first call. Raises ImportError when there is none."""
    path = library_path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{error}. Install tuner, or set TUNER_LIBRARY to the path of {SONAME}") from None
    for name, types in _CALLS.items():
        try:
            call = getattr(loaded, name)
        except AttributeError:
            raise ImportError(f"{path} is of another version of tuner: it has no {name}") from None
        call.argtypes, call.restype = types, ctypes.c_int
    loaded.tuner_last_error.restype = ctypes.c_char_p
    loaded.tuner_close.argtypes, loaded.tuner_close.restype = (ctypes.c_void_p,), None
    return loaded


def check(status: int) -> None:
    """Raises Error for the status of a call that failed in this thread."""
    if status != 0:
        raise Error(library().tuner_last_error().decode())
