// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/genetic.hpp"

#include <cmath>

namespace tuner::search {
namespace {

// Chosen on recorded spaces; docs/results/search.md has the scores.
constexpr std::size_t kPopulation = 25;
constexpr double kRank = 2.5;  // above 1: how much better members are preferred as parents
constexpr double kMutation = 0.3;

}  // namespace

Genetic::Genetic(const space::Space& space, std::uint64_t seed)
    : Metaheuristic(space, seed), population_(kPopulation) {}

const space::Config& Genetic::parent() {
  const auto members = population_.members();
  const double place = std::pow(uniform(), kRank) * static_cast<double>(members.size());
  return members[static_cast<std::size_t>(place)].config;
}

std::optional<space::Config> Genetic::propose(double) {
  if (!population_.full()) return std::nullopt;
  space::Config child = mixture(parent(), parent());
  if (uniform() < kMutation) {
    const std::vector<space::Config> neighbours = space().neighbours(child);
    if (!neighbours.empty()) child = neighbours[any_below(neighbours.size())];
  }
  return child;
}

void Genetic::learn(const space::Config& config, Loss loss) {
  population_.add(config, loss);
}

}  // namespace tuner::search
