// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/series.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::gemm_benchmark {

SeriesPlan plan_series(double fastest_ns, std::size_t sets) {
  constexpr double kSeries_ns = 200e3;
  // A library's launch may be three operations, and fewer than 1024 fit behind a StreamGate.
  constexpr double kMost = 300;
  const double wanted = std::ceil(kSeries_ns / std::max(fastest_ns, 1.0));
  const auto launches = static_cast<std::size_t>(std::clamp(wanted, 1.0, kMost));
  // Each set stands as often as the others and far from itself, also where one series follows
  // another.
  if (launches >= sets) return {.launches = launches - launches % sets, .series = 1};
  const std::size_t series = (sets + launches - 1) / launches;
  return {.launches = sets / series, .series = series};
}

bool is_known(const measure::MedianInterval& ratio) {
  constexpr double kHalfWidth = 0.005;
  return ratio.high - ratio.low <= 2 * kHalfWidth * ratio.median;
}

}  // namespace tuner::gemm_benchmark
