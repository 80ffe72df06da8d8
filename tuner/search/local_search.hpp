// SPDX-License-Identifier: Apache-2.0
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

/// Variable neighbourhood search (Mladenović and Hansen, 1997) with a tabu list (Glover, 1989) of
/// all that was ever tried, restarts, and a look ahead: of a handful of candidates, neighbours of
/// where it stands, a mixture of two of the best, and any, that one is tried whose nearest tried
/// configurations were the fastest. A step to something slower is taken as in simulated annealing.
/// The mixture of moves is that of HybridVNDX (van Stein et al., arXiv 2510.17899), with losses
/// that do not depend on the unit of time and elites that are the best.
class LocalSearch : public Metaheuristic {
 public:
  LocalSearch(const space::Space& space, std::uint64_t seed);

 private:
  std::optional<space::Config> propose(double spent) override;
  void learn(const space::Config& config, Loss loss) override;

  [[nodiscard]] std::vector<space::Config> candidates();

  Population elite_;
  NeighbourhoodMemory tried_;
  std::optional<Member> current_;
  double temperature_ = 0;
  std::optional<Loss> slowest_;
  std::size_t refused_ = 0;  // steps, one after the other
};

}  // namespace tuner::search
