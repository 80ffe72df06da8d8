// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/metaheuristic.hpp"

#include <map>
#include <vector>

namespace tuner::search {

/// Differential evolution (Storn and Price, J. Global Optim. 1997), current-to-pbest/1/bin (Zhang
/// and Sanderson, "JADE", 2009), on the indices of the values: a member moves towards one of the
/// best and by the difference of two others, in some of its parameters; the result is rounded,
/// repaired into the space, and takes the member's place if it is not slower. Members are moved in
/// turn without waiting for the answers.
class DifferentialEvolution : public Metaheuristic {
 public:
  DifferentialEvolution(const space::Space& space, std::uint64_t seed);

 private:
  std::optional<space::Config> propose(double spent) override;
  void asked(const space::Config& config) override;
  void learn(const space::Config& config, Loss loss) override;

  [[nodiscard]] const space::Config& one_of_the_best();
  [[nodiscard]] space::Config moved(const space::Config& config);

  std::vector<Member> members_;
  std::map<space::Config, std::size_t> targets_;  // of what is in flight: the member it may replace
  std::optional<std::size_t> target_;             // of the last proposal
  std::size_t next_ = 0;
};

}  // namespace tuner::search
