// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tuner::search {

/// A configuration as the surrogate sees it: the choice on each axis.
using Point = std::vector<std::uint16_t>;

/// The parameters of a space that vary, each with a place between 0 and 1 for every value: by its
/// logarithm where all values are positive numbers, since doubling is what a tile or an unrolling
/// does; else by its number; words one after the other.
class Axes {
 public:
  explicit Axes(const space::SpaceDefinition& definition);

  [[nodiscard]] std::size_t count() const { return places_.size(); }
  /// The places of an axis' values.
  [[nodiscard]] std::span<const double> places(std::size_t axis) const { return places_[axis]; }
  [[nodiscard]] Point point(const space::Config& config) const;

 private:
  std::vector<std::size_t> parameters_;
  std::vector<std::vector<double>> places_;
};

}  // namespace tuner::search
