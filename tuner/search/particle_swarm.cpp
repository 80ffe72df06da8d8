// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/particle_swarm.hpp"

#include "tuner/search/repair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {
namespace {

constexpr std::size_t kParticles = 20;
constexpr double kInertia = 0.5;
constexpr double kOwn = 2;     // attraction of the best that the particle has seen
constexpr double kCommon = 2;  // and of the best of all

}  // namespace

ParticleSwarm::ParticleSwarm(const space::Space& space, std::uint64_t seed)
    : Metaheuristic(space, seed),
      best_{.config = {}, .loss = std::numeric_limits<Loss>::infinity()} {}

void ParticleSwarm::move(Particle& particle) {
  for (std::size_t p = 0; p < particle.place.size(); ++p) {
    double& velocity = particle.velocity[p];
    double& place = particle.place[p];
    velocity = kInertia * velocity + kOwn * uniform() * (particle.best.config.choice[p] - place) +
               kCommon * uniform() * (best_.config.choice[p] - place);
    const auto last = static_cast<double>(space().definition().parameters[p].values.size() - 1);
    place = std::clamp(place + velocity, 0.0, last);
  }
}

std::optional<space::Config> ParticleSwarm::propose(double) {
  mover_.reset();
  if (particles_.size() < kParticles) return std::nullopt;
  mover_ = next_++ % particles_.size();
  Particle& particle = particles_[*mover_];
  move(particle);
  space::Config wanted;
  for (const double place : particle.place) {
    wanted.choice.push_back(static_cast<std::uint32_t>(std::lround(place)));
  }
  return repaired(space(), wanted, particle.best.config);
}

void ParticleSwarm::asked(const space::Config& config) {
  if (!mover_) return;
  movers_[config] = *mover_;
  particles_[*mover_].place.assign(config.choice.begin(), config.choice.end());
}

void ParticleSwarm::learn(const space::Config& config, Loss loss) {
  const auto mover = movers_.find(config);
  if (mover != movers_.end()) {
    Member& own = particles_[mover->second].best;
    if (loss < own.loss) own = {config, loss};
    movers_.erase(mover);
  } else if (particles_.size() < kParticles && std::isfinite(loss)) {
    particles_.push_back({.place = {config.choice.begin(), config.choice.end()},
                          .velocity = std::vector<double>(config.choice.size()),
                          .best = {config, loss}});
  }
  if (loss < best_.loss) best_ = {config, loss};
}

}  // namespace tuner::search
