// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS that this project calls. For the .cpp files of this folder alone.
#pragma once

#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/backend/executor.hpp"

#include <fmt/format.h>

#include <cublas_v2.h>

#include <string>

namespace tuner::backend {

struct CublasApi {
  SharedLibrary library = SharedLibrary::of_toolkit("libcublas");
  decltype(&cublasGetProperty) property = library.symbol("cublasGetProperty");
  decltype(&cublasGetStatusName) status_name = library.symbol("cublasGetStatusName");
  decltype(&cublasCreate_v2) create = library.symbol("cublasCreate_v2");
  decltype(&cublasDestroy_v2) destroy = library.symbol("cublasDestroy_v2");
  decltype(&cublasSetStream_v2) set_stream = library.symbol("cublasSetStream_v2");
  decltype(&cublasSetWorkspace_v2) set_workspace = library.symbol("cublasSetWorkspace_v2");
  decltype(&cublasSetMathMode) set_math_mode = library.symbol("cublasSetMathMode");
  decltype(&cublasSgemm_v2_64) sgemm = library.symbol("cublasSgemm_v2_64");
  decltype(&cublasDgemm_v2_64) dgemm = library.symbol("cublasDgemm_v2_64");
  decltype(&cublasSgemmStridedBatched_64) sgemm_batched =
      library.symbol("cublasSgemmStridedBatched_64");
  decltype(&cublasDgemmStridedBatched_64) dgemm_batched =
      library.symbol("cublasDgemmStridedBatched_64");
  decltype(&cublasGemmEx_64) gemm_ex = library.symbol("cublasGemmEx_64");
  decltype(&cublasGemmStridedBatchedEx_64) gemm_batched_ex =
      library.symbol("cublasGemmStridedBatchedEx_64");
  decltype(&cublasSgeam_64) sgeam = library.symbol("cublasSgeam_64");
  decltype(&cublasDgeam_64) dgeam = library.symbol("cublasDgeam_64");
};

/// "cuBLAS 13.1.0".
[[nodiscard]] std::string cublas_version(const CublasApi& api);

/// A handle without tensor cores that round inputs: CUBLAS_PEDANTIC_MATH. Takes 0.1 s and device
/// memory of the current context.
[[nodiscard]] Expected<cublasHandle_t, Failure> make_cublas_handle(const CublasApi& api);

/// Enqueues an operation on the handle's stream: cublasSgemm, cublasDgemm or, for types of 16 bits,
/// cublasGemmEx, for a batch of several their strided batched form; cublasSgeam or cublasDgeam.
/// launch_error when cuBLAS refuses, also a type that it does not take here; else crashed.
[[nodiscard]] Expected<void, Failure> run_cublas(const CublasApi& api, cublasHandle_t handle,
                                                 const blas::Operation& operation,
                                                 const blas::Addresses& operands);

/// As `attempt` for the runtime's codes.
[[nodiscard]] Expected<void, Failure> attempt(const CublasApi& api, cublasStatus_t status);

}  // namespace tuner::backend
