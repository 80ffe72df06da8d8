// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/expected_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::session {
namespace {

/// Of ln size: one standard deviation of the weight. Extents count again as leading dimensions.
constexpr double kReach = 1;
/// Of a configuration that was fastest somewhere, at a size far from there.
constexpr double kUsualLnLoss = 0.22;
constexpr double kUsualError = 0.3;
/// The weight of these, beside 1 for a loss at the very size.
constexpr double kUsualWeight = 0.3;

double squared_distance(const space::Size& a, const space::Size& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference =
        std::log((static_cast<double>(a[i]) + 1) / (static_cast<double>(b[i]) + 1));
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

ExpectedLoss expected_loss(std::span<const KnownLoss> known, const space::Size& asked) {
  double weights = kUsualWeight;
  double sum = kUsualWeight * kUsualLnLoss;
  for (const KnownLoss& loss : known) {
    const double weight = std::exp(-squared_distance(loss.size, asked) / (2 * kReach * kReach));
    weights += weight;
    sum += weight * loss.ln_loss;
  }
  return {.ln_loss = sum / weights, .error = kUsualError * std::sqrt(kUsualWeight / weights)};
}

std::vector<space::Size> far_apart(std::vector<space::Size> sizes) {
  std::vector<space::Size> ordered;
  std::vector<double> distances(sizes.size(), std::numeric_limits<double>::infinity());
  const auto sum_to_others = [&](const space::Size& size) {
    double sum = 0;
    for (const space::Size& other : sizes) sum += squared_distance(size, other);
    return sum;
  };
  std::size_t next = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sum_to_others(sizes[i]) < sum_to_others(sizes[next])) next = i;
  }
  while (ordered.size() < sizes.size()) {
    ordered.push_back(sizes[next]);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      distances[i] = std::min(distances[i], squared_distance(sizes[i], ordered.back()));
    }
    next = static_cast<std::size_t>(std::ranges::max_element(distances) - distances.begin());
  }
  return ordered;
}

}  // namespace tuner::session
