// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/gpu.hpp"
#include "benchmarks/gemm/library_contenders.hpp"
#include "benchmarks/gemm/result.hpp"
#include "benchmarks/gemm/rounds.hpp"
#include "benchmarks/gemm/shape.hpp"
#include "benchmarks/gemm/stored_contender.hpp"

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
  Regime regime = Regime::alternating;
};

/// Everything that is made once for all shapes.
class Benchmark {
 public:
  /// Throws Error(no_device) when there is no GPU, and as the parts do.
  explicit Benchmark(const Options& options);

  [[nodiscard]] RunInfo run_info();
  /// A shape that cannot be measured comes back with the reason among its notes. After a fault of
  /// the GPU so do all that follow.
  [[nodiscard]] ShapeResult measure(const SuiteShape& shape);

 private:
  void measure_into(ShapeResult& result);
  /// All that take part; what is missing becomes a note.
  [[nodiscard]] std::vector<Contender> add_contenders(ShapeResult& result, Operands& operands);
  /// What its heuristic proposes first, and the fastest that is right.
  void add_cublas_lt(std::vector<Contender>& all, const ShapeResult& result, Operands& operands);
  /// In the regime of the run, as far as launches one by one show it.
  [[nodiscard]] std::optional<double> time_once(const Contender& contender, std::size_t sets);
  [[nodiscard]] std::string kernel_of(const Contender& contender) const;

  Options options_;
  Gpu gpu_;
  SmClock clock_;
  CublasContenders cublas_;
  CublasLtContenders cublas_lt_;
  std::optional<StoredContenders> stored_;
};

}  // namespace tuner::gemm_benchmark
