// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tuner::measure {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::ranges::sort(copy);
  return copy;
}

/// The largest r such that fewer than r of n samples fall below the median with probability at most
/// 2.5 %: the r-th smallest and the r-th largest sample then enclose the median with at least 95 %.
std::size_t interval_rank(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));  // P(exactly k below), from k = 0
  double cumulative = term;
  std::size_t rank = 0;
  for (std::size_t k = 0; cumulative <= 0.025; ++k) {
    rank = k + 1;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    cumulative += term;
  }
  return rank;
}

}  // namespace

std::optional<TimeSummary> summarise(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(samples);
  return TimeSummary{.median_ns = sorted_quantile(ordered, 0.5),
                     .q1_ns = sorted_quantile(ordered, 0.25),
                     .q3_ns = sorted_quantile(ordered, 0.75),
                     .min_ns = ordered.front(),
                     .samples = static_cast<int>(ordered.size())};
}

std::optional<MedianInterval> median_interval(std::span<const double> samples) {
  constexpr std::size_t kFewest = 6;    // 2·0.5^6 = 3.1 %, 2·0.5^5 = 6.3 %
  constexpr std::size_t kMost = 1'000;  // 0.5^n stays a normal number
  if (samples.size() < kFewest) return std::nullopt;
  const std::vector<double> ordered = sorted(samples);
  const std::size_t n = ordered.size();
  const std::size_t rank =
      n <= kMost ? interval_rank(n)
                 : static_cast<std::size_t>(
                       (static_cast<double>(n) - 1.96 * std::sqrt(static_cast<double>(n))) / 2);
  return MedianInterval{
      .median = sorted_quantile(ordered, 0.5), .low = ordered[rank - 1], .high = ordered[n - rank]};
}

std::optional<double> median_absolute_deviation(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  const double median = *quantile(samples, 0.5);
  std::vector<double> distances(samples.size());
  std::ranges::transform(samples, distances.begin(),
                         [median](double sample) { return std::abs(sample - median); });
  return quantile(distances, 0.5);
}

std::optional<double> relative_error_of_median(std::span<const double> samples) {
  constexpr double kDeviationFromMad = 1.4826;
  constexpr double kMedianFromMean = 1.2533;  // √(π/2)
  if (samples.size() < 2) return std::nullopt;
  const double median = *quantile(samples, 0.5);
  if (median == 0.0) return std::nullopt;
  const double deviation = kDeviationFromMad * *median_absolute_deviation(samples);
  return kMedianFromMean * deviation / std::sqrt(static_cast<double>(samples.size())) / median;
}

std::optional<double> relative_deviation(std::span<const double> samples) {
  if (samples.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
  if (mean == 0.0) return std::nullopt;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  return std::sqrt(squares / (n - 1)) / mean;
}

bool noise_is_stable(std::span<const double> noise_estimates) {
  constexpr std::size_t kFewest = 4;
  constexpr double kStable = 0.05;
  if (noise_estimates.size() < kFewest) return false;
  const auto deviation = relative_deviation(noise_estimates);
  return !deviation || *deviation < kStable;  // no noise at all is stable too
}

std::vector<double> paired_ratios(std::span<const double> numerators,
                                  std::span<const double> denominators) {
  std::vector<double> ratios(numerators.size());
  std::ranges::transform(numerators, denominators, ratios.begin(), std::divides<>());
  return ratios;
}

}  // namespace tuner::measure
