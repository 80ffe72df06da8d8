// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/unseen.hpp"

#include <algorithm>

namespace tuner::search {

bool Unseen::seen(const space::Config& config) const {
  const auto position = space_.position(config);
  return position && seen_.contains(*position);
}

bool Unseen::take(const space::Config& config) {
  const auto position = space_.position(config);
  return position && seen_.insert(*position).second;
}

std::optional<space::Config> Unseen::take_any() {
  for (;;) {
    std::vector<space::Config> next = order_.ask(1, {});
    if (next.empty()) return std::nullopt;
    if (take(next.front())) return std::move(next.front());
  }
}

std::optional<space::Config> Unseen::take_near(space::Config config, std::mt19937_64& random) {
  constexpr int kLongestWalk = 4;
  for (int step = 0; step < kLongestWalk; ++step) {
    std::vector<space::Config> neighbours = space_.neighbours(config);
    if (neighbours.empty()) return std::nullopt;
    std::ranges::shuffle(neighbours, random);
    for (const space::Config& neighbour : neighbours) {
      if (take(neighbour)) return neighbour;
    }
    config = std::move(neighbours.front());
  }
  return std::nullopt;
}

}  // namespace tuner::search
