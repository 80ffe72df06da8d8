// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/gpu.hpp"
#include "benchmarks/gemm/result.hpp"

#include <string>

namespace tuner::gemm_benchmark {

/// What the figures of this run depend on; `library` is cuBLAS's version. Copies for a moment.
[[nodiscard]] RunInfo run_info(Gpu& gpu, const std::string& library);

}  // namespace tuner::gemm_benchmark
