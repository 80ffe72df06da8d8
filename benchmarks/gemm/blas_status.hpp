// SPDX-License-Identifier: Apache-2.0
// For the .cpp files of the libraries' contenders alone: it brings cuBLAS's header along.
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <cublas_v2.h>

namespace tuner::gemm_benchmark {

/// A library's refusal as a launch_error, anything else as crashed.
[[nodiscard]] Expected<void, Failure> blas_result(cublasStatus_t status);

}  // namespace tuner::gemm_benchmark
