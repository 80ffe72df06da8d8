// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/metaheuristic.hpp"

#include <map>
#include <vector>

namespace tuner::search {

/// Particle swarm optimisation (Kennedy and Eberhart, 1995; inertia: Shi and Eberhart, 1998) on the
/// indices of the values: particles keep some of their velocity and are drawn to the best that each
/// of them and that all of them have seen; where one arrives is rounded and repaired into the
/// space. They move in turn without waiting for the answers.
class ParticleSwarm : public Metaheuristic {
 public:
  ParticleSwarm(const space::Space& space, std::uint64_t seed);

 private:
  struct Particle {
    std::vector<double> place;  // in steps along each parameter's values
    std::vector<double> velocity;
    Member best;
  };

  std::optional<space::Config> propose(double spent) override;
  void asked(const space::Config& config) override;
  void learn(const space::Config& config, Loss loss) override;

  void move(Particle& particle);

  std::vector<Particle> particles_;
  Member best_;
  std::map<space::Config, std::size_t>
      movers_;                        // of what is in flight: the particle that went there
  std::optional<std::size_t> mover_;  // of the last proposal
  std::size_t next_ = 0;
};

}  // namespace tuner::search
