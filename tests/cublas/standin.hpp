// SPDX-License-Identifier: Apache-2.0
// Libraries with the names, symbols and versions of cuBLAS that compute on the host and keep what
// they were called with: what a program with cuBLAS does is seen without a GPU.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <array>
#include <cstdint>

/// What a function was called with last.
struct StandinCall {
  const char* function = "";
  std::array<std::uint64_t, 24> bits{};  ///< of the arguments, in order
  int arguments = 0;
  int calls = 0;  ///< of all functions so far
};

extern "C" {
/// Of all products; one for the process.
StandinCall* standin_last_call();
/// What every product returns from now on.
void standin_fail(cublasStatus_t status);
/// Whether products of cublasSgemm are done by cublasLtMatmul, as cuBLAS's own may be.
void standin_nest(int nested);
}
