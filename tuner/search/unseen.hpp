// SPDX-License-Identifier: Apache-2.0
// Internal to search.
#pragma once

#include "tuner/search/random_order.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <unordered_set>

namespace tuner::search {

/// The configurations of a space that have been seen: asked for, or told of. Memory grows with
/// them, not with the space.
class Unseen {
 public:
  Unseen(const space::Space& space, std::uint64_t seed) : space_(space), order_(space, seed) {}

  /// Whether a configuration of the space is a seen one.
  [[nodiscard]] bool seen(const space::Config& config) const;
  /// Makes a configuration a seen one. Returns whether it was in the space and not seen before.
  bool take(const space::Config& config);
  /// Takes one that is not seen, at random; none when all are.
  [[nodiscard]] std::optional<space::Config> take_any();
  /// Takes the end of a random walk over neighbours that begins at a configuration of the space,
  /// as soon as it is at one that is not seen; none when the walk gets too long.
  [[nodiscard]] std::optional<space::Config> take_near(space::Config config,
                                                       std::mt19937_64& random);

 private:
  const space::Space& space_;
  RandomOrder order_;
  std::unordered_set<std::uint64_t> seen_;  // positions
};

}  // namespace tuner::search
