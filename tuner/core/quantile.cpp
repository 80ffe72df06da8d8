// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/quantile.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tuner {

double sorted_quantile(std::span<const double> sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<double> quantile(std::span<const double> samples, double share) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted_quantile(sorted, share);
}

}  // namespace tuner
