// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/shape.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

/// The command line.
struct Options {
  std::vector<SuiteShape> shapes;
  /// What ours comes from; without a database the libraries are compared with each other.
  std::optional<std::filesystem::path> database;
  std::filesystem::path space;
  std::optional<std::filesystem::path> json;
  double time_per_shape_s = 1.5;
  int device = 0;
  std::size_t algorithms = 0;  ///< of cublasLt, beside what its heuristic proposes
};

/// None when it only asks for help, which is then printed. Throws Error(usage).
[[nodiscard]] std::optional<Options> parse_options(int count, char** arguments);

}  // namespace tuner::gemm_benchmark
