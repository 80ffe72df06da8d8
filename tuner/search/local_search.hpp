// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/neighbourhood_memory.hpp"
#include "tuner/search/population.hpp"

namespace tuner::search {

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
