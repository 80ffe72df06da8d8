// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tuner {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

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

std::optional<double> quantile(std::span<const double> samples, double share) {
  if (samples.empty()) return std::nullopt;
  return sorted_quantile(sorted(samples), share);
}

std::optional<Summary> summarise(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(samples);
  return Summary{.median = sorted_quantile(ordered, 0.5),
                 .q1 = sorted_quantile(ordered, 0.25),
                 .q3 = sorted_quantile(ordered, 0.75),
                 .minimum = ordered.front(),
                 .count = static_cast<int>(ordered.size())};
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

std::vector<double> paired_ratios(std::span<const double> numerators,
                                  std::span<const double> denominators) {
  std::vector<double> ratios(numerators.size());
  std::ranges::transform(numerators, denominators, ratios.begin(), std::divides<>());
  return ratios;
}

}  // namespace tuner
