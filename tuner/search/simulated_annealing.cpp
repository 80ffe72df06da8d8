// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/simulated_annealing.hpp"

#include <cmath>

namespace tuner::search {
namespace {

constexpr std::size_t kRandomStarts = 10;  // configurations at random; the walk begins at the best
// Temperatures, at the beginning and at the end: a step to exp(temperature) times the time is taken
// once in e times.
constexpr double kFirstTemperature = 0.15;
constexpr double kLastTemperature = 0.015;
constexpr std::size_t kAnswersToReturn =
    30;  // answers without a new best until the walk goes back to it

}  // namespace

SimulatedAnnealing::SimulatedAnnealing(const space::Space& space, std::uint64_t seed)
    : Metaheuristic(space, seed) {}

std::optional<space::Config> SimulatedAnnealing::propose(double spent) {
  temperature_ = kFirstTemperature * std::pow(kLastTemperature / kFirstTemperature, spent);
  if (answers() < kRandomStarts || !current_) return std::nullopt;
  if (without_improvement_ >= kAnswersToReturn) {
    current_ = best_;
    without_improvement_ = 0;
  }
  return current_->config;
}

void SimulatedAnnealing::learn(const space::Config& config, Loss loss) {
  ++without_improvement_;
  if (!std::isfinite(loss)) return;
  if (!best_ || loss < best_->loss) {
    best_ = Member{config, loss};
    without_improvement_ = 0;
  }
  const bool walking = current_ && answers() > kRandomStarts;
  const double worse = current_ ? loss - current_->loss : 0;
  if (worse <= 0 || (walking && uniform() < std::exp(-worse / temperature_))) {
    current_ = Member{config, loss};
  }
}

}  // namespace tuner::search
