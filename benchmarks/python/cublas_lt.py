# SPDX-License-Identifier: Apache-2.0
"""Products x @ w.T by the algorithms that cublasLt proposes, through ctypes, for matrices of PyTorch on a GPU."""

import ctypes

import torch

_TYPES = {torch.bfloat16: 14, torch.float32: 0}  # cudaDataType
_COMPUTE_FLOAT, _FLOAT = 68, 0
_TRANSA, _TRANSPOSE = 3, 1  # cublasLtMatmulDescAttributes_t, cublasOperation_t
_MAX_WORKSPACE, _REDUCTIONS, _ALIGNMENTS = 1, 3, (5, 6, 7, 8)  # cublasLtMatmulPreferenceAttributes_t
_WORKSPACE_BYTES = 32 << 20


class _Heuristic(ctypes.Structure):
    _fields_ = [("algorithm", ctypes.c_uint64 * 8), ("workspace_bytes", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


class CublasLt:
    def __init__(self):
        self._library = ctypes.CDLL(f"libcublasLt.so.{torch.version.cuda.partition('.')[0]}")
        self._handle = self._made("cublasLtCreate")
        self._workspace = torch.empty(_WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")

    def _call(self, function, *arguments):
        status = getattr(self._library, function)(*arguments)
        if status != 0:
            raise RuntimeError(f"{function}: status {status}")

    def _made(self, function, *arguments):
        made = ctypes.c_void_p()
        self._call(function, ctypes.byref(made), *arguments)
        return made

    def _set(self, function, object_, attribute, value, ctype):
        number = ctype(value)
        self._call(function, object_, attribute, ctypes.byref(number), ctypes.c_size_t(ctypes.sizeof(number)))

    def _layout(self, dtype, rows, columns):
        """Of a matrix by columns."""
        return self._made("cublasLtMatrixLayoutCreate", ctypes.c_int(_TYPES[dtype]), ctypes.c_uint64(rows),
                          ctypes.c_uint64(columns), ctypes.c_int64(rows))

    def products(self, m, n, k, dtype, most):
        """A function of x (m×k), w (n×k) and out (m×n) for each of at most `most` algorithms, on the current stream."""
        product = self._made("cublasLtMatmulDescCreate", ctypes.c_int(_COMPUTE_FLOAT), ctypes.c_int(_FLOAT))
        self._set("cublasLtMatmulDescSetAttribute", product, _TRANSA, _TRANSPOSE, ctypes.c_int32)
        preference = self._made("cublasLtMatmulPreferenceCreate")
        self._set("cublasLtMatmulPreferenceSetAttribute", preference, _MAX_WORKSPACE, _WORKSPACE_BYTES, ctypes.c_uint64)
        self._set("cublasLtMatmulPreferenceSetAttribute", preference, _REDUCTIONS, 1 | 2, ctypes.c_uint32)
        for which in _ALIGNMENTS:
            self._set("cublasLtMatmulPreferenceSetAttribute", preference, which, 16, ctypes.c_uint32)
        # outᵀ = w·xᵀ by columns, where a matrix by rows is its transpose.
        w, x, out = self._layout(dtype, k, n), self._layout(dtype, k, m), self._layout(dtype, n, m)
        found, count = (_Heuristic * most)(), ctypes.c_int()
        self._call("cublasLtMatmulAlgoGetHeuristic", self._handle, product, w, x, out, out, preference, most, found,
                   ctypes.byref(count))
        return [self._by(it, product, w, x, out) for it in found[:count.value] if it.state == 0]

    def _by(self, heuristic, product, layout_w, layout_x, layout_out):
        one, zero = ctypes.c_float(1), ctypes.c_float(0)

        def multiply(x, w, out):
            pointer = ctypes.c_void_p
            self._call("cublasLtMatmul", self._handle, product, ctypes.byref(one), pointer(w.data_ptr()), layout_w,
                       pointer(x.data_ptr()), layout_x, ctypes.byref(zero), pointer(out.data_ptr()), layout_out,
                       pointer(out.data_ptr()), layout_out, ctypes.byref(heuristic), pointer(self._workspace.data_ptr()),
                       ctypes.c_size_t(heuristic.workspace_bytes), pointer(torch.cuda.current_stream().cuda_stream))

        return multiply
