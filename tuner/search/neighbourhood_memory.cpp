// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/neighbourhood_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {
namespace {

// How far two values of a parameter are apart at least, first and last being 1 apart.
constexpr float kDifferent = 0.5F;

}  // namespace

NeighbourhoodMemory::NeighbourhoodMemory(const space::SpaceDefinition& definition,
                                         std::size_t nearest, std::size_t capacity)
    : nearest_(nearest), capacity_(capacity) {
  for (const space::Parameter& parameter : definition.parameters) {
    const std::size_t steps = std::max<std::size_t>(1, parameter.values.size() - 1);
    step_.push_back((1 - kDifferent) / static_cast<float>(steps));
  }
}

void NeighbourhoodMemory::add(const space::Config& config, Loss loss) {
  if (losses_.size() < capacity_) {
    places_.insert(places_.end(), config.choice.begin(), config.choice.end());
    losses_.push_back(loss);
    return;
  }
  std::ranges::copy(config.choice,
                    places_.begin() + static_cast<std::ptrdiff_t>(next_ * step_.size()));
  losses_[next_] = loss;
  next_ = (next_ + 1) % capacity_;
}

Loss NeighbourhoodMemory::expected(const space::Config& config) const {
  struct Near {
    float distance;
    Loss loss;
  };
  const std::vector<float> wanted(config.choice.begin(), config.choice.end());
  std::vector<Near> near;  // ascending
  float furthest = std::numeric_limits<float>::infinity();
  const float* place = places_.data();
  for (const Loss loss : losses_) {
    float distance = 0;
    for (std::size_t p = 0; p < wanted.size() && distance < furthest; ++p) {
      if (wanted[p] != place[p]) distance += kDifferent + step_[p] * std::abs(wanted[p] - place[p]);
    }
    place += wanted.size();
    if (distance >= furthest) continue;
    if (near.size() == nearest_) near.pop_back();
    near.insert(std::ranges::upper_bound(near, distance, {}, &Near::distance), {distance, loss});
    if (near.size() == nearest_) furthest = near.back().distance;
  }
  Loss sum = 0;
  for (const Near& each : near) sum += each.loss;
  return sum / static_cast<double>(near.size());
}

}  // namespace tuner::search
