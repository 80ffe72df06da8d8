// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::session {

class SizeSearch;

/// Which of several sizes are near each other, and in which order to begin them so that as many as
/// possible have a neighbour that was begun before.
class Neighbours {
 public:
  /// So many sizes at most are neighbours of one.
  static constexpr std::size_t kMost = 4;

  /// Each size once, at least one.
  Neighbours(std::span<const space::Size> sizes, const space::Dimensions& dims);

  /// Indices of all sizes: the first of them, then always the one that is the farthest from all
  /// before it. So the first few are spread over all there are, and each later one lies between.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  /// All other sizes of the same kind, the nearest first; the first kMost of them are its
  /// neighbours.
  [[nodiscard]] const std::vector<std::size_t>& nearest(std::size_t size) const {
    return nearest_[size];
  }
  [[nodiscard]] bool is_neighbour(std::size_t of, std::size_t size) const;

 private:
  std::vector<std::vector<std::size_t>> nearest_;  // by size
  std::vector<std::size_t> order_;
};

/// What a size passes on to those near it: its fastest three configurations, less what is far
/// behind the first.
[[nodiscard]] std::vector<space::Config> winners(const SizeSearch& search);

/// What to begin a size with: the winners of each of its kMost nearest sizes that have some; the
/// fastest of the nearest first, then the fastest of the next nearest, and so on. Each once.
/// `winners` are in the order of the sizes.
[[nodiscard]] std::vector<space::Config> winners_nearby(
    const Neighbours& neighbours, std::size_t size,
    std::span<const std::vector<space::Config>> winners);

}  // namespace tuner::session
