// SPDX-License-Identifier: Apache-2.0
// Internal to search.
#pragma once

#include "tuner/search/random_order.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <unordered_set>

namespace tuner::search {

/// The set of visited configurations of a space: proposed, or reported with a result. Memory grows
/// with them, not with the space.
class VisitedSet {
 public:
  VisitedSet(const space::Space& space, std::uint64_t seed) : space_(space), order_(space, seed) {}

  /// Whether a configuration of the space was visited.
  [[nodiscard]] bool contains(const space::Config& config) const;
  /// Adds a configuration. Returns whether it is in the space and was not visited before.
  bool insert(const space::Config& config);
  /// Adds and returns a random one that was not visited; none when all were.
  [[nodiscard]] std::optional<space::Config> insert_random();
  /// Adds and returns the first configuration not yet visited on a random walk over neighbours from
  /// a configuration of the space; none when the walk is too long.
  [[nodiscard]] std::optional<space::Config> insert_near(space::Config config,
                                                         std::mt19937_64& random);

 private:
  const space::Space& space_;
  RandomOrder order_;
  std::unordered_set<std::uint64_t> visited_;  // positions
};

}  // namespace tuner::search
