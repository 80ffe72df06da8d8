# SPDX-License-Identifier: Apache-2.0
"""Matrix products of arrays."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import math
from typing import Any, Iterator, Optional, Tuple

from . import _arrays
from ._arrays import View
from ._dispatcher import Dispatcher, default_dispatcher
from ._library import GEMM_RESULTS, GEMM_TF32, GEMM_TYPES, GemmProblem, check

Shape = Tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Matrices:
    """A batch of matrices that BLAS can read: each row-major, or its transpose is."""

    pointer: int
    element_bytes: int
    rows: int
    columns: int
    is_transposed: bool
    ld: int
    batch: Shape
    strides: Shape  # elements from one matrix to the next along each dimension of `batch`

    @property
    def transpose(self) -> Matrices:
        return dataclasses.replace(self, rows=self.columns, columns=self.rows, is_transposed=not self.is_transposed)

    def broadcast(self, batch: Shape) -> Matrices:
        missing = len(batch) - len(self.batch)
        own, strides = (1,) * missing + self.batch, (0,) * missing + self.strides
        return dataclasses.replace(
            self, batch=batch, strides=tuple(0 if n == 1 else stride for n, stride in zip(own, strides)))


def matrix_layout(rows: int, columns: int, row_stride: int, column_stride: int) -> Optional[Tuple[bool, int]]:
    """Whether the transpose is stored, and the leading dimension; None if BLAS cannot express the layout."""
    if 0 in (rows, columns):
        return False, max(columns, 1)
    if (column_stride == 1 or columns <= 1) and (row_stride >= max(columns, 1) or rows <= 1):
        return False, max(columns, 1) if rows <= 1 else row_stride
    if (row_stride == 1 or rows <= 1) and (column_stride >= max(rows, 1) or columns <= 1):
        return True, max(rows, 1) if columns <= 1 else column_stride
    return None


def _matrices(view: View) -> Optional[Matrices]:
    rows, columns = view.shape[-2:]
    layout = matrix_layout(rows, columns, *view.strides[-2:])
    is_reversed = any(n > 1 and stride < 0 for n, stride in zip(view.shape[:-2], view.strides[:-2]))
    if layout is None or is_reversed:
        return None
    return Matrices(view.pointer, view.element_bytes, rows, columns, *layout, view.shape[:-2], view.strides[:-2])


def _at_least_two(view: View, append: bool) -> View:
    """A vector as a matrix of one row, or of one column."""
    if len(view.shape) >= 2:
        return view
    shape, strides = view.shape + (1,), view.strides + (1,)
    return dataclasses.replace(view, shape=shape if append else shape[::-1], strides=strides if append else strides[::-1])


def _broadcast(a: Shape, b: Shape) -> Shape:
    result = []
    for n, m in itertools.zip_longest(a[::-1], b[::-1], fillvalue=1):
        if n != m and 1 not in (n, m):
            raise ValueError(f"matmul: batches of {a} and {b} matrices do not fit each other")
        result.append(m if n == 1 else n)
    return tuple(result[::-1])


def _merged(*all_matrices: Matrices) -> Tuple[int, Tuple[int, ...], Shape]:
    """How many trailing dimensions of the batch are one batch for all, and the stride of each in it."""
    batch = all_matrices[0].batch
    count, strides, merged = 1, tuple(0 for _ in all_matrices), 0
    for i in reversed(range(len(batch))):
        step = tuple(it.strides[i] for it in all_matrices)
        if batch[i] != 1 and count != 1 and any(s != inner * count for s, inner in zip(step, strides)):
            break
        if batch[i] != 1:
            strides = step if count == 1 else strides
            count *= batch[i]
        merged += 1
    return count, strides, batch[:len(batch) - merged]


def _calls(a: Matrices, b: Matrices, c: Matrices) -> Iterator[Tuple[Tuple[int, ...], int, Tuple[int, ...]]]:
    """The addresses, batch and strides of calls that make up a product."""
    count, strides, outer = _merged(a, b, c)
    for place in itertools.product(*map(range, outer)):
        yield (tuple(it.pointer + it.element_bytes * sum(map(int.__mul__, place, it.strides)) for it in (a, b, c)),
               count, strides)


def _check_operand(name: str, view: View) -> None:
    if view.element not in GEMM_RESULTS:
        raise TypeError(f"matmul: {name} has elements of type {view.element}; {', '.join(GEMM_RESULTS)} can be multiplied")
    if len(view.shape) == 0:
        raise ValueError(f"matmul: {name} is a number, not a matrix: multiply by *")


def _operand(array: Any, view: View, append: bool) -> Tuple[Matrices, Any]:
    """As matrices, of a copy where BLAS cannot express the strides, and what owns their memory."""
    matrices = _matrices(_at_least_two(view, append))
    if matrices is not None:
        return matrices, view
    copy = _arrays.view(_arrays.contiguous(array))
    matrices = _matrices(_at_least_two(copy, append))
    assert matrices is not None
    return matrices, copy


def matmul(a: Any, b: Any, out: Any = None, *, allow_tf32: bool = False, stream: Optional[int] = None,
           dispatcher: Optional[Dispatcher] = None) -> Any:
    """The matrix product a @ b, with the shapes and broadcasting of numpy.matmul.

    a, b: arrays of torch, CuPy, NumPy, or with DLPack or an array interface, on one device, of one type:
          float32, float64, float16, bfloat16, int8 or torch.float8_e4m3fn. Sums of types of 16 and 8 bits
          are of float32, rounded once, those of int8 of int32. Strides that BLAS cannot take (every other
          column, a dimension in reverse) are copied first.
    out: where the result goes; by default a new array of a's library, of the operands' type, int32 for int8,
         bfloat16 for float8_e4m3fn. For float16 and bfloat16 it may be float32. It may overlap a and b.
    allow_tf32: whether tensor cores may read 19 bits of each float32.
    stream: a cudaStream_t as a number; by default the current one of a's library.
    dispatcher: by default one for each device with the user's database.

    Raises TypeError for element types, ValueError for shapes, devices and tensors that record gradients,
    tuner.Error when the device fails. An array of the host is done when it returns, else it is enqueued.
    """
    view_a, view_b = _arrays.view(a), _arrays.view(b)
    _check_operand("a", view_a)
    _check_operand("b", view_b)
    if view_a.element != view_b.element:
        raise TypeError(f"matmul: a has elements of type {view_a.element}, b of type {view_b.element}: convert one")
    if (view_a.backend, view_a.device) != (view_b.backend, view_b.device):
        raise ValueError(f"matmul: a is on {view_a.backend} {view_a.device}, b on {view_b.backend} {view_b.device}")
    if dispatcher is None:
        dispatcher = default_dispatcher(view_a.backend, view_a.device)
    elif (dispatcher.backend, dispatcher.device) != (view_a.backend, view_a.device):
        raise ValueError(f"matmul: a is on {view_a.backend} {view_a.device}, the dispatcher on {dispatcher.backend} "
                         f"{dispatcher.device}")
    with _arrays.on_device(a, view_a):
        operand_a, keep_a = _operand(a, view_a, append=False)
        operand_b, keep_b = _operand(b, view_b, append=True)
        if operand_a.columns != operand_b.rows:
            raise ValueError(f"matmul: a of shape {view_a.shape} has {operand_a.columns} columns, b of shape "
                             f"{view_b.shape} has {operand_b.rows} rows")
        batch = _broadcast(operand_a.batch, operand_b.batch)
        rows, columns = operand_a.rows, operand_b.columns
        shape = batch + (rows,) * (len(view_a.shape) > 1) + (columns,) * (len(view_b.shape) > 1)
        full = batch + (rows, columns)
        result, element, target = _result(a, out, shape, full, view_a, view_b)
        if stream is None:
            stream = _arrays.current_stream(a, view_a)
        gemm_type = GEMM_TF32 if allow_tf32 and view_a.element == "float" else GEMM_TYPES[view_a.element, element]
        _multiply(dispatcher, stream, gemm_type, operand_a.broadcast(batch), operand_b.broadcast(batch), target)
        if out is None:
            is_number = shape == () and _arrays.maker(a) == "numpy"
            return result[()] if is_number else result
        if result is not out:
            _arrays.assign(out, result)
        return out


def _result(a: Any, out: Any, shape: Shape, full: Shape, view_a: View, view_b: View) -> Tuple[Any, str, Matrices]:
    """The array that the product is written to, its element type and its matrices: `out` itself where that can be."""
    elements = GEMM_RESULTS[view_a.element]
    element = elements[0]
    if out is not None:
        view = _arrays.view(out)
        if view.shape != shape:
            raise ValueError(f"matmul: out has the shape {view.shape}, the product {shape}")
        if view.element not in elements:
            raise TypeError(f"matmul: out has elements of type {view.element}, the product {' or '.join(elements)}")
        element = view.element
        if (view.backend, view.device) != (view_a.backend, view_a.device):
            raise ValueError(f"matmul: out is on {view.backend} {view.device}, a on {view_a.backend} {view_a.device}")
        if not view.is_writable:
            raise ValueError("matmul: out is read-only")
        is_shared = view.overlaps(view_a) or view.overlaps(view_b) or not view.has_own_elements
        matrices = None if is_shared else _matrices_of(view, shape, full)
        if matrices is not None:
            return out, element, matrices
    fresh = _arrays.empty_like(a, shape, element)
    matrices = _matrices_of(_arrays.view(fresh), shape, full)
    assert matrices is not None
    return fresh, element, matrices


def _matrices_of(view: View, shape: Shape, full: Shape) -> Optional[Matrices]:
    if shape == full:
        return _matrices(view)
    if any(n > 1 and stride != math.prod(shape[i + 1:]) for i, (n, stride) in enumerate(zip(shape, view.strides))):
        return None  # a product of vectors, not contiguous
    strides = tuple(math.prod(full[i + 1:]) for i in range(len(full)))
    return _matrices(dataclasses.replace(view, shape=full, strides=strides))


def _multiply(dispatcher: Dispatcher, stream: int, gemm_type: int, a: Matrices, b: Matrices, c: Matrices) -> None:
    if c.is_transposed:
        a, b, c = b.transpose, a.transpose, c.transpose
    if 0 in c.batch or c.rows == 0 or c.columns == 0:
        return
    for (at_a, at_b, at_c), batch, strides in _calls(a, b, c):
        problem = GemmProblem(ctypes.sizeof(GemmProblem), gemm_type, a.is_transposed, b.is_transposed, c.rows, c.columns,
                              a.columns, a.ld, b.ld, c.ld, batch, *strides)
        check(dispatcher._library.tuner_gemm(dispatcher._handle, stream, ctypes.byref(problem), 1.0, at_a, at_b, 0.0,
                                             at_c))
