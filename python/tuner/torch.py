# SPDX-License-Identifier: Apache-2.0
"""aten's mm, addmm, bmm and baddbmm by tuned kernels, for a whole program: tuner.torch.enable().

Taken are products of matrices on a GPU of one type, float32, float64, bfloat16 or float16, for which a
tuned kernel, or an algorithm of cublasLt that was timed, is expected to be faster than cuBLAS by its own choice: where PyTorch allows TF32, a kernel for TF32. A bias with a
number for each column is added by the kernel, or where it has none, as for float32, written to the result before. Everything else runs as if nothing had been enabled: other types, sizes that the library serves best, sizes that are new during a capture,
other devices than the current one. Gradients, autocast and vmap use these operators and are not affected. Code that torch.compile makes
calls their overloads with `out`, which are served, too.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _arrays, _library
from ._dispatcher import Dispatcher, Table, default_dispatcher
from ._library import BIAS_NONE, BIAS_PER_COLUMN, GEMM_TF32, GEMM_TYPES, Error, GemmProblem
from ._matmul import matrix_layout

_RUNGS_TAKEN = ("exact", "stale", "nearest", "library_tuned")
_MOST_KNOWN = 4096
_NO_BIAS = 0
_SPREAD_NS = 3000  # what it takes at most to write a bias to all rows, and to read it there: a launch,
_SPREAD_ELEMENT_NS = 0.01  # and 8 or 4 bytes at 800 or 400 GB/s
_FEW_ROWS = 64  # of either result dimension: such products are bound by memory, where cuBLAS leaves most, and programs have few of them
_TF32 = "float32 in TF32"


@dataclasses.dataclass
class Statistics:
    """Calls of mm, addmm, bmm and baddbmm, with and without `out`, since enable()."""

    taken: int = 0      #: by tuned kernels and chosen algorithms of cublasLt
    passed_on: int = 0  #: to aten
    saved_s: float = 0.0  #: GPU time that cuBLAS is expected to take longer by its own choice for the taken calls; of a graph, for the capture


@dataclasses.dataclass(frozen=True)
class _Known:
    """What serves operands of certain shapes and strides."""

    shape: Tuple[int, ...]  # of the result
    problem: Any            # a GemmProblem by reference
    dispatcher: Any         # its handle
    saved_s: float          # beside cuBLAS by its own choice
    spreads_bias: bool      # written to all rows of the result, to which the product is added


class _Override:
    """The kernels in place of aten's, while they are."""

    def __init__(self, measure: Optional[bool], table: Optional[Table]) -> None:
        import torch

        if not hasattr(torch.library, "get_kernel"):
            raise ImportError(f"tuner.torch needs a PyTorch with torch.library.get_kernel (2.9 or newer), this is "
                              f"{torch.__version__}")
        self.torch = torch
        self.statistics = Statistics()
        self.measure, self.table = measure, table
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.dispatchers: Dict[int, Dispatcher] = {}
        self.known: Dict[Any, Optional[_Known]] = {}
        self.expected: Dict[Any, Optional[_Known]] = {}  # by expectation, until their second call
        self.library = torch.library.Library("aten", "IMPL")
        makers = (self._make_mm, ("mm", "bmm", "mm.out", "bmm.out")), (self._make_addmm, ("addmm", "baddbmm", "addmm.out", "baddbmm.out"))
        for name, make in ((name, make) for make, names in makers for name in names):
            original = torch.library.get_kernel(f"aten::{name}", "CUDA").call_boxed
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a kernel is overridden
                self.library.impl(name, make(original), "CUDA", with_keyset=True)

    def _make_mm(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """aten's mm and bmm, with and without `out`. A call may take 3 µs, so that all it needs are variables of its own."""
        torch, known, statistics, decide = self.torch, self.known, self.statistics, self.decide
        float32, contiguous = torch.float32, torch.contiguous_format
        types = (float32, torch.float64, torch.bfloat16, torch.float16)
        allows_tf32, current_stream = torch._C._get_cublas_allow_tf32, torch._C._cuda_getCurrentRawStream
        current_device, one_device = torch.cuda.current_device, torch.cuda.device_count() == 1
        gemm = _library.library().tuner_gemm
        missing: Any = object()

        def mm(keys: Any, a: Any, b: Any, c: Any = None, beta: float = 0.0, alpha: float = 1.0, *, out: Any = None, bias: Any = None) -> Any:
            """alpha·a@b + beta·c, or with a bias, whose numbers are contiguous, alpha·a@b + bias; None for aten's addmm to do."""
            dtype = a.dtype
            if dtype in types and b.dtype is dtype and a.is_cuda and b.is_cuda and (
                    out is None or (out.dtype is dtype and out.get_device() == a.get_device() and out.is_contiguous())):
                device = 0 if one_device else a.get_device()
                here = one_device or device == b.get_device() == current_device()
                try:
                    kind = _TF32 if dtype is float32 and allows_tf32() else dtype
                except RuntimeError:  # settings that contradict each other: aten says so
                    here, kind = False, dtype
                key = (a.shape, a.stride(), b.shape, b.stride(), device, kind, _NO_BIAS if bias is None else bias.data_ptr())
                it: Any = known.get(key, missing) if here else None
                if it is missing:
                    it = decide(key)
                if it is not None and (c is None or c.shape == it.shape) and (out is None or out.shape == it.shape):
                    if it.spreads_bias:
                        c, beta = bias.expand(it.shape), 1.0
                    if out is not None:
                        result = out.copy_(c) if beta and c is not out else out
                    else:
                        result = c.clone(memory_format=contiguous) if beta else a.new_empty(it.shape)
                    if gemm(it.dispatcher, current_stream(device), it.problem, alpha, a.data_ptr(), b.data_ptr(), beta,
                            result.data_ptr()) == 0:
                        statistics.taken += 1
                        statistics.saved_s += it.saved_s
                        return result
                    self.give_up(key)
            if c is not None or bias is not None:
                return None
            statistics.passed_on += 1
            return original(keys, a, b) if out is None else original(keys, a, b, out=out)

        return mm

    def _make_addmm(self, original: Callable[..., Any]) -> Callable[..., Any]:
        mm, statistics = self._make_mm(original), self.statistics

        def addmm(keys: Any, c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
            if c.dtype is a.dtype and c.is_cuda:
                result = None
                if _is_bias(c, a, b):
                    if beta == 1:
                        result = mm(keys, a, b, alpha=alpha, out=out, bias=c)
                elif c.dim() == a.dim():
                    result = mm(keys, a, b, c, beta, alpha, out=out)
                if result is not None:
                    return result
            statistics.passed_on += 1
            options = {} if beta == alpha == 1 else {"beta": beta, "alpha": alpha}
            if out is not None:
                options["out"] = out
            return original(keys, c, a, b, **options)

        return addmm

    def give_up(self, key: Any) -> None:
        """A size whose launch failed is aten's from now on."""
        warnings.warn(f"tuner: {_library.library().tuner_last_error().decode()}; aten serves this size", RuntimeWarning)
        self.known[key] = None

    def decide(self, key: Any) -> Optional[_Known]:
        """Whether a tuned kernel serves operands of these shapes, strides and devices."""
        if os.getpid() != self.process:
            return None
        if self.torch.cuda.is_current_stream_capturing():
            return self.expected.get(key)  # not remembered: a later call may be measured
        with self.lock:
            if key in self.known:
                return self.known[key]
            if self._waits(key) and key not in self.expected:
                return _remember(self.expected, key, self._decide(False, *key))
            self.expected.pop(key, None)
            return _remember(self.known, key, self._decide(self.measure is not False, *key))

    def _waits(self, key: Any) -> bool:
        """Whether a first call is served by expectation: sizes that occur once, such as prompts of one length, are not worth a measurement."""
        shape_a, _, shape_b = key[:3]
        return self.measure is None and min(shape_a[-2:-1] + shape_b[-1:], default=0) > _FEW_ROWS

    def _decide(self, measure: bool, shape_a: Any, strides_a: Any, shape_b: Any, strides_b: Any, device: int,
                kind: Any, bias: int) -> Optional[_Known]:
        size = gemm_size(tuple(shape_a), strides_a, tuple(shape_b), strides_b)
        if size is None:
            return None
        m, n, k, batch, trans_a, trans_b, lda, ldb, ldc = size
        problem = GemmProblem(ctypes.sizeof(GemmProblem), _gemm_type(kind), trans_a, trans_b, m, n, k, lda, ldb,
                              ldc, batch, (k if trans_a else m) * lda, (n if trans_b else k) * ldb, m * ldc)
        has_bias = bias != _NO_BIAS
        if has_bias:
            problem.bias_kind, problem.bias = BIAS_PER_COLUMN, bias
        spreads_bias = False
        try:
            dispatcher = self._dispatcher(device)
            if has_bias:
                spreads_bias = not _adds_bias(dispatcher, problem)
            found = dispatcher._find_gemm(problem)
            if found is None:
                return None
            family, numbers = found
            if measure:
                dispatcher._prepare(family, [numbers], measure=True)
            answer = dispatcher._answer(family, numbers)
        except Error:
            return None  # no table for this device, or nothing can run
        if answer.rung not in _RUNGS_TAKEN:
            return None
        # With a bias a kernel answers also where the library is faster, which aten calls with it.
        saved_ns = answer.saved_ns - (_SPREAD_NS + m * n * _SPREAD_ELEMENT_NS if spreads_bias else 0)
        if has_bias and saved_ns <= 0:
            return None
        shape = (m, n) if len(shape_a) == 2 else (batch, m, n)
        return _Known(shape, ctypes.byref(problem), dispatcher._handle, saved_ns / 1e9, spreads_bias)

    def _dispatcher(self, device: int) -> Dispatcher:
        if self.table is None:
            return default_dispatcher("cuda", device)
        if device not in self.dispatchers:
            self.dispatchers[device] = Dispatcher(self.table, device=device)
        return self.dispatchers[device]


def _remember(sizes: Dict[Any, Optional[_Known]], key: Any, served: Optional[_Known]) -> Optional[_Known]:
    if len(sizes) >= _MOST_KNOWN:
        sizes.clear()
    sizes[key] = served
    return served


def _adds_bias(dispatcher: Dispatcher, problem: GemmProblem) -> bool:
    """Whether kernels add the problem's bias; takes it away where they do not."""
    try:
        dispatcher._find_gemm(problem)
        return True
    except Error:
        problem.bias_kind, problem.bias = BIAS_NONE, None
        return False


def _is_bias(c: Any, a: Any, b: Any) -> bool:
    """Whether one number is added to each column of the product of two matrices."""
    if a.dim() != 2 or c.shape[-1:] != b.shape[-1:] or c.stride()[-1:] != (1,) or c.get_device() != a.get_device():
        return False
    return bool(c.dim() == 1 or (c.dim() == 2 and c.stride()[0] == 0 and c.shape[0] == a.shape[0]))


def _gemm_type(kind: Any) -> int:
    """Of matrices of a dtype, or of float32 where TF32 is allowed."""
    if kind is _TF32:
        return GEMM_TF32
    element = _arrays.TORCH_ELEMENTS[str(kind).partition(".")[2]]
    return GEMM_TYPES[element, element]


def gemm_size(shape_a: Tuple[int, ...], strides_a: Tuple[int, ...], shape_b: Tuple[int, ...],
              strides_b: Tuple[int, ...]) -> Optional[List[int]]:
    """M, N, K, BATCH, TRANS_A, TRANS_B, LDA, LDB and LDC of the family gemm; None for operands that these cannot express."""
    if len(shape_a) != len(shape_b) or shape_a[:-2] != shape_b[:-2] or shape_a[-1] != shape_b[-2]:
        return None
    (m, k), n = shape_a[-2:], shape_b[-1]
    batch = shape_a[0] if len(shape_a) == 3 else 1
    a, b = matrix_layout(m, k, *strides_a[-2:]), matrix_layout(k, n, *strides_b[-2:])
    if a is None or b is None or 0 in (m, n, k, batch):
        return None
    (trans_a, lda), (trans_b, ldb) = a, b
    packed = (lda * (k if trans_a else m), ldb * (n if trans_b else k))
    if batch > 1 and (strides_a[0], strides_b[0]) != packed:
        return None
    return [m, n, k, batch, int(trans_a), int(trans_b), lda, ldb, n]


_override: Optional[_Override] = None


def enable(*, measure: Optional[bool] = None, table: Optional[Table] = None) -> None:
    """Serves torch.mm, addmm, bmm and baddbmm, and all that uses them, by tuned kernels in this process.

    measure: whether kernels and cuBLAS are timed at sizes that were never tuned, some 50 ms a size, longer
             where kernels are compiled. None: at the first call where the result has at most 64 rows or
             columns, at the second call elsewhere, which sizes that occur once do not reach. True: at the first
             call. False: never; sizes are chosen by expectation.
    table: by default the user's database, with the shipped table for sizes that it does not have.

    A choice by measurement is kept on disk, so that later runs and other processes have it, too. Results differ from
    cuBLAS's in the last bits and are the same in every run with the same choices. Raises ImportError without torch or the library.
    """
    global _override
    _library.library()
    disable()
    _override = _Override(measure, table)


def disable() -> None:
    """Gives the products back to aten."""
    global _override
    if _override is not None:
        _override.library._destroy()
        _override = None


def statistics() -> Statistics:
    """Calls since enable()."""
    return Statistics() if _override is None else dataclasses.replace(_override.statistics)
