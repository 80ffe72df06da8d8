// SPDX-License-Identifier: Apache-2.0
// Internal to search.
#pragma once

#include "tuner/search/metaheuristic.hpp"

#include <cstdint>
#include <vector>

namespace tuner::search {

/// Predicts how a configuration fares from those closest to it that were tried. Two values of a
/// parameter are the further apart the more values lie between them, but different values at
/// least half as far as the first from the last.
class NeighbourhoodMemory {
 public:
  /// Predictions are the mean of the `nearest`; of more than `capacity` configurations only the
  /// last are remembered, which bounds the time of a prediction.
  NeighbourhoodMemory(const space::SpaceDefinition& definition, std::size_t nearest,
                      std::size_t capacity);

  /// `loss` is finite.
  void add(const space::Config& config, Loss loss);
  /// There must be something to predict from.
  [[nodiscard]] Loss expected(const space::Config& config) const;

 private:
  std::size_t nearest_;
  std::size_t capacity_;
  std::vector<float> step_;    // for each parameter, how far values side by side are apart
  std::vector<float> places_;  // of all that is remembered, one after the other
  std::vector<Loss> losses_;
  std::size_t next_ = 0;  // what is replaced next when all is full
};

}  // namespace tuner::search
