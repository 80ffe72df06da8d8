// SPDX-License-Identifier: Apache-2.0
// What the dispatcher chose for sizes that were never tuned, and how fast it was.
#pragma once

#include "benchmarks/gemm/result.hpp"
#include "tuner/dispatch/dispatcher.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::gemm_benchmark {

/// One size. What was not measured is absent.
struct Choice {
  Shape shape;
  std::optional<Answer> answer = {};  ///< what ran
  std::optional<TimeSummary> dispatched_ns = {}, cublas_ns = {}, retuned_ns = {};
  /// The dispatched call's time over cublasSgemm's in the same round: below 1 it is faster.
  std::optional<measure::MedianInterval> to_cublas = {};
  /// Its time over that of what tuning this very size found.
  std::optional<measure::MedianInterval> regret = {};
  /// Where the library was chosen: the best kernel's time over cublasSgemm's.
  std::optional<measure::MedianInterval> kernel_to_cublas = {};
  std::optional<double> worst_difference = {};  ///< as in ShapeResult
  std::vector<std::string> notes = {};          ///< what could not be done, and why
};

struct RandomSizesResult {
  RunInfo run;
  std::uint64_t seed = 1;
  std::vector<Choice> choices;
};

/// "faster", "slower" than cublasSgemm where the interval says so, else "even"; "library" where it
/// was chosen, "missed" where the best kernel is known to be faster than it; "-" where nothing was
/// measured.
[[nodiscard]] std::string_view verdict(const Choice& choice);
/// Measured, and the result is the library's.
[[nodiscard]] bool is_good(const Choice& choice);

/// Ratios of times: below 1 is good.
struct Ratios {
  std::size_t sizes = 0;
  double geometric_mean = 1;
  double worst = 1;
  std::string worst_shape;
  std::vector<std::pair<double, double>> quantiles;  ///< share of the sizes, ratio
  std::size_t beyond_5_percent = 0;                  ///< how many are above 1.05
};

struct ChoiceSummary {
  std::optional<Ratios> to_cublas;           ///< of all sizes
  std::optional<Ratios> by_rows_of_16;       ///< of those whose matrices all have rows of 16 bytes
  std::optional<Ratios> by_odd_rows;         ///< of the others
  std::optional<Ratios> regret;              ///< of those that were tuned
  std::optional<Ratios> kernels_left;        ///< the best kernel where the library was chosen
  std::map<std::string, std::size_t> rungs;  ///< how many sizes each answered
  /// Root mean square of ln(expected / measured).
  std::optional<double> expectation_error;
};
[[nodiscard]] ChoiceSummary summarise(const RandomSizesResult& result);

/// A line for each size, then the summary.
[[nodiscard]] std::string table(const RandomSizesResult& result);
/// A document of format "random_sizes/1": the run, each size with its explanation, and the summary.
[[nodiscard]] std::string choices_json(const RandomSizesResult& result);

}  // namespace tuner::gemm_benchmark
