// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/result.hpp"

#include <string>

namespace tuner::gemm_benchmark {

/// For a terminal: a line for each shape, then geometric means, the worst shape and what is behind.
/// Rates are TFLOP/s, and GB/s with the share of the copy's where the memory decides. A ratio is
/// followed by half the width of its 95 % interval.
[[nodiscard]] std::string table(const BenchmarkResult& result);

}  // namespace tuner::gemm_benchmark
