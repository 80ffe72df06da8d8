// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/result.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

/// The geometric mean of positive numbers; absent for none.
[[nodiscard]] std::optional<double> geometric_mean(std::span<const double> values);

/// Geometric means over the shapes that have the ratio.
struct Means {
  std::string group;  ///< empty: all shapes
  std::size_t shapes = 0;
  std::size_t tuned = 0;  ///< of them, those in which ours took part
  std::optional<double> ours_to_cublas, ours_to_cublas_lt, ours_to_default, cublas_lt_to_cublas,
      cublas_lt_to_default;
};

struct Standing {
  std::string shape;
  double ours_to_cublas = 1;
};

struct BenchmarkSummary {
  std::vector<Means> means;        ///< all shapes first, then the groups in the suite's order
  std::optional<Standing> worst;   ///< the shape with the least ratio to cuBLAS
  std::vector<Standing> behind;    ///< those below 0.97, the worst first
  std::vector<std::string> wrong;  ///< shapes whose result is not cuBLAS's
};
[[nodiscard]] BenchmarkSummary summarise(const BenchmarkResult& result);

}  // namespace tuner::gemm_benchmark
