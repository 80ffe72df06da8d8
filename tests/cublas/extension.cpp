// SPDX-License-Identifier: Apache-2.0
// A part of a program that is linked to cuBLAS, as a Python extension is.
#include <cublas_v2.h>

#include <array>

/// Whether a product of 2 by 2 matrices is right.
extern "C" int extension_multiplies() {
  cublasHandle_t handle = nullptr;
  if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS) return 0;
  const std::array<float, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::array<float, 4> c{};
  const float one = 1, zero = 0;
  const auto status = cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.data(), 2,
                                     b.data(), 2, &zero, c.data(), 2);
  cublasDestroy_v2(handle);
  return status == CUBLAS_STATUS_SUCCESS && c == std::array<float, 4>{23, 34, 31, 46} ? 1 : 0;
}
