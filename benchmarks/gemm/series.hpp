// SPDX-License-Identifier: Apache-2.0
// How samples are taken, as far as it is arithmetic.
#pragma once

#include "tuner/measure/statistics.hpp"

#include <cstddef>
#include <span>

namespace tuner::gemm_benchmark {

/// One sample is a series of launches, timed as one and divided.
struct SeriesPlan {
  std::size_t launches = 1;  ///< in one series
  std::size_t series = 1;    ///< different ones of a contender, which go through all operand sets

  [[nodiscard]] bool is_graph() const { return launches > 1; }
  bool operator==(const SeriesPlan&) const = default;
};

/// Launches below 200 µs are timed in graphs of so many as take about that long, at most 300: two
/// events around a single one would add a microsecond or two to each contender and draw their ratio
/// towards 1, and an application repeats short kernels in graphs, too.
[[nodiscard]] SeriesPlan plan_series(double fastest_ns, std::size_t sets);

/// Whether a ratio is known to ±0.5 % or better.
[[nodiscard]] bool is_known(const measure::MedianInterval& ratio);

}  // namespace tuner::gemm_benchmark
