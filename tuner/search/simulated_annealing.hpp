// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/metaheuristic.hpp"

namespace tuner::search {

/// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 1983): a walk over neighbours that
/// always takes a step to something faster and, ever more rarely as the budget goes, one to
/// something slower. The step is judged by the ratio of the times, so the temperature means the
/// same for every kernel. After many steps in vain the walk goes on from the best so far.
class SimulatedAnnealing : public Metaheuristic {
 public:
  SimulatedAnnealing(const space::Space& space, std::uint64_t seed);

 private:
  std::optional<space::Config> propose(double spent) override;
  void learn(const space::Config& config, Loss loss) override;

  std::optional<Member> current_;
  std::optional<Member> best_;
  double temperature_ = 0;
  std::size_t without_improvement_ = 0;
};

}  // namespace tuner::search
