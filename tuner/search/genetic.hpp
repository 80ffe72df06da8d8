// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/metaheuristic.hpp"

namespace tuner::search {

/// A steady-state genetic algorithm (Syswerda, "A study of reproduction in generational and
/// steady-state genetic algorithms", 1991): the best configurations so far are the population;
/// a child takes each parameter from one of two of them, sometimes mutates to a neighbour, is
/// repaired into the space, and takes the place of the worst if it is better. There are no
/// generations to wait for, so any number of children can be in flight, and since none is asked
/// for twice, the population stays diverse.
class Genetic : public Metaheuristic {
 public:
  Genetic(const space::Space& space, std::uint64_t seed);

 private:
  std::optional<space::Config> propose(double spent) override;
  void learn(const space::Config& config, Loss loss) override;

  [[nodiscard]] const space::Config& parent();

  Population population_;
};

}  // namespace tuner::search
