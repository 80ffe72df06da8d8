// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/result.hpp"
#include "tuner/core/json.hpp"

#include <string>

namespace tuner::gemm_benchmark {

/// A document of format "gemm_benchmark/1", which benchmarks/results/tables.py reads: the run, each
/// shape with its times, rates and ratios, and the summary.
[[nodiscard]] std::string result_json(const BenchmarkResult& result);

/// "median", "low" and "high"; null for none.
[[nodiscard]] Json interval_json(const std::optional<measure::MedianInterval>& interval);

}  // namespace tuner::gemm_benchmark
