// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/visited_set.hpp"

#include <algorithm>

namespace tuner::search {

bool VisitedSet::contains(const space::Config& config) const {
  const auto position = space_.position(config);
  return position && visited_.contains(*position);
}

bool VisitedSet::insert(const space::Config& config) {
  const auto position = space_.position(config);
  return position && visited_.insert(*position).second;
}

std::optional<space::Config> VisitedSet::insert_random() {
  for (;;) {
    std::vector<space::Config> next = order_.ask(1, {});
    if (next.empty()) return std::nullopt;
    if (insert(next.front())) return std::move(next.front());
  }
}

std::optional<space::Config> VisitedSet::insert_near(space::Config config,
                                                     std::mt19937_64& random) {
  constexpr int kLongestWalk = 4;
  for (int step = 0; step < kLongestWalk; ++step) {
    std::vector<space::Config> neighbours = space_.neighbours(config);
    if (neighbours.empty()) return std::nullopt;
    std::ranges::shuffle(neighbours, random);
    for (const space::Config& neighbour : neighbours) {
      if (insert(neighbour)) return neighbour;
    }
    config = std::move(neighbours.front());
  }
  return std::nullopt;
}

}  // namespace tuner::search
