// SPDX-License-Identifier: Apache-2.0
// What a run of the benchmark found, what that comes to, and how it is written. What was not
// measured is absent, not zero.
#pragma once

#include "benchmarks/gemm/shape.hpp"
#include "tuner/core/json.hpp"
#include "tuner/measure/statistics.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::gemm_benchmark {

/// Who takes part.
enum class Role {
  ours,        ///< the fastest configuration that the database has for the size
  by_default,  ///< the default configuration of the same kernel
  cublas,      ///< cublasSgemm or cublasSgemmStridedBatched, default math mode
  cublas_lt,   ///< the best of cublasLt: of what its heuristic proposes, and of --algorithms others
  cublas_lt_default,  ///< what its heuristic proposes first
  dispatched,         ///< what the dispatcher chooses
  retuned,            ///< what it chooses where the very size was tuned
  kernel,             ///< the kernel that it would choose if there were no library
};
/// "ours", "default", "cublas", "cublasLt", "cublasLt default", "dispatched", "retuned", "kernel".
[[nodiscard]] std::string_view name(Role role);

/// One contender's share in a shape's rounds.
struct ContenderResult {
  Role role = Role::ours;
  std::string kernel;   ///< what ran: the kernel and its configuration, or the library's kernels
  TimeSummary time_ns;  ///< of one launch
};

struct ShapeResult {
  std::string group;
  Shape shape;
  std::vector<ContenderResult> contenders = {};
  /// The other's time over ours in the same round, its median and 95 % interval: above 1, ours is
  /// faster.
  std::optional<measure::MedianInterval> ours_to_cublas = {}, ours_to_cublas_lt = {},
                                         ours_to_default = {};
  /// Likewise of the best of cublasLt: above 1, it is faster.
  std::optional<measure::MedianInterval> cublas_lt_to_cublas = {}, cublas_lt_to_default = {};
  std::optional<double> clock_mhz = {};  ///< of the multiprocessors, median while measured
  int rounds = 0;
  int launches = 1;  ///< in one sample
  int sets = 2;      ///< of operands, rotated
  /// The largest |ours − cuBLAS| as a share of what the rounding of both may make of it: above 1
  /// one of the two is wrong.
  std::optional<double> worst_difference = {};
  std::vector<std::string> notes = {};  ///< what could not be done, and why
};

struct RunInfo {
  std::string device, driver, cuda, library, date;  ///< date: UTC, ISO 8601
  double copy_bytes_per_s = 0;                      ///< read and written, device to device
};

struct BenchmarkResult {
  RunInfo run;
  std::vector<ShapeResult> shapes;
  bool sustained = false;  ///< each contender under a load of its own
};

/// None when it did not take part.
[[nodiscard]] const ContenderResult* find(const ShapeResult& result, Role role);

/// Whether the memory decides, not the arithmetic: below 16 operations a byte in float, where an
/// H200's 67 TFLOP/s and 4.2 TB/s meet, and more on tensor cores.
[[nodiscard]] bool is_memory_bound(const Shape& shape);

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

/// A document of format "gemm_benchmark/1", which benchmarks/results/tables.py reads: the run, each
/// shape with its times, rates and ratios, and the summary.
[[nodiscard]] std::string result_json(const BenchmarkResult& result);

/// "median", "low" and "high"; null for none.
[[nodiscard]] Json interval_json(const std::optional<measure::MedianInterval>& interval);

using Row = std::vector<std::string>;

/// Columns two spaces apart, without spaces at the ends of lines. All rows have as many columns as
/// the first, of which there must be one.
[[nodiscard]] std::string aligned_rows(const std::vector<Row>& rows);

/// For a terminal: a line for each shape, then geometric means, the worst shape and what is behind.
/// Rates are TFLOP/s, and GB/s with the share of the copy's where the memory decides. A ratio is
/// followed by half the width of its 95 % interval.
[[nodiscard]] std::string table(const BenchmarkResult& result);

}  // namespace tuner::gemm_benchmark
