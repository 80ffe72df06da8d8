// SPDX-License-Identifier: Apache-2.0
// Statistics of timing samples: pure functions of numbers. What cannot be known is absent, not
// zero.
#pragma once

#include "tuner/core/quantile.hpp"
#include "tuner/core/time_summary.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tuner::measure {

using tuner::quantile;

/// Of times in nanoseconds; absent for none.
[[nodiscard]] std::optional<TimeSummary> summarise(std::span<const double> samples);

/// A median with a 95 % interval.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
/// The distribution-free interval between two order statistics whose ranks come from the binomial
/// distribution (Conover, Practical Nonparametric Statistics, §3.2). Absent below 6 samples, which
/// cannot give 95 %.
[[nodiscard]] std::optional<MedianInterval> median_interval(std::span<const double> samples);

/// The median of the distances from the median. Absent for no samples.
[[nodiscard]] std::optional<double> median_absolute_deviation(std::span<const double> samples);

/// The standard error of the median as a share of it: 1.2533·σ/√n for normal noise (Kendall &
/// Stuart, The Advanced Theory of Statistics 1, §10.10), with σ = 1.4826·MAD, which outliers do not
/// move (Rousseeuw & Croux, JASA 88, 1993). Absent below 2 samples or for a median of 0.
[[nodiscard]] std::optional<double> relative_error_of_median(std::span<const double> samples);

/// Standard deviation over mean. Absent below 2 samples or for a mean of 0.
[[nodiscard]] std::optional<double> relative_deviation(std::span<const double> samples);

/// Whether more samples would teach nothing new about the noise: the estimates of it made so far,
/// one after every few samples, lie within 5 % (their relative deviation) of each other. The rule
/// of nvbench's criterion `stdrel`, of at least 4 estimates where nvbench takes 64: a screening has
/// not that many samples.
[[nodiscard]] bool noise_is_stable(std::span<const double> noise_estimates);

/// numerators[i] / denominators[i]: samples taken side by side, compared pair by pair. Both spans
/// have the same length.
[[nodiscard]] std::vector<double> paired_ratios(std::span<const double> numerators,
                                                std::span<const double> denominators);

}  // namespace tuner::measure
