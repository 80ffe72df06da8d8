// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/repair.hpp"

#include <algorithm>

namespace tuner::search {

std::uint64_t steps_between(const space::Config& a, const space::Config& b) {
  std::uint64_t steps = 0;
  for (std::size_t p = 0; p < a.choice.size(); ++p) {
    const auto [low, high] = std::minmax(a.choice[p], b.choice[p]);
    steps += high - low;
  }
  return steps;
}

space::Config repaired(const space::Space& space, const space::Config& wanted,
                       const space::Config& from) {
  if (space.position(wanted)) return wanted;
  const auto distance = [&](const space::Config& config) { return steps_between(config, wanted); };
  const std::vector<space::Config> beside = space.neighbours(wanted);
  if (!beside.empty()) return *std::ranges::min_element(beside, {}, distance);
  space::Config nearest = from;
  for (;;) {
    const std::vector<space::Config> steps = space.neighbours(nearest);
    const auto best = std::ranges::min_element(steps, {}, distance);
    if (best == steps.end() || distance(*best) >= distance(nearest)) return nearest;
    nearest = *best;
  }
}

}  // namespace tuner::search
