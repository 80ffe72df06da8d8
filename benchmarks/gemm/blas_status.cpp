// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/blas_status.hpp"

#include <fmt/format.h>

namespace tuner::gemm_benchmark {

Expected<void, Failure> blas_result(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const bool refused =
      status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_INVALID_VALUE ||
      status == CUBLAS_STATUS_ARCH_MISMATCH || status == CUBLAS_STATUS_NOT_SUPPORTED;
  return Unexpected(Failure{refused ? Outcome::launch_error : Outcome::crashed,
                            fmt::format("cublasStatus_t {}", static_cast<int>(status))});
}

}  // namespace tuner::gemm_benchmark
