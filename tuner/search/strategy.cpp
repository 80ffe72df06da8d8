// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/search/bayesian.hpp"
#include "tuner/search/differential_evolution.hpp"
#include "tuner/search/exhaustive.hpp"
#include "tuner/search/genetic.hpp"
#include "tuner/search/local_search.hpp"
#include "tuner/search/particle_swarm.hpp"
#include "tuner/search/random_order.hpp"
#include "tuner/search/simulated_annealing.hpp"

#include <fmt/format.h>

namespace tuner::search {

std::vector<std::string> strategy_names() {
  return {
      "auto",    "exhaustive",   "random",         "bayesian",           "differential_evolution",
      "genetic", "local_search", "particle_swarm", "simulated_annealing"};
}

namespace {

/// Snoek, Larochelle, Adams, "Practical Bayesian Optimization of Machine Learning Algorithms",
/// NIPS 2012: one smooth covariance, all observations alike.
BayesianSettings textbook() {
  return {.prior = {.correlation = Correlation::matern52, .length = 0.6, .most_additive = 0},
          .slow_side = 1,
          .initial = 10,
          .candidates = Candidates::anywhere};
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view name, const space::Space& space,
                                        std::uint64_t seed) {
  if (name == "exhaustive") return std::make_unique<Exhaustive>(space);
  if (name == "auto") return std::make_unique<Bayesian>(space, seed, BayesianSettings{});
  if (name == "bayesian") return std::make_unique<Bayesian>(space, seed, textbook());
  if (name == "random") return std::make_unique<RandomOrder>(space, seed);
  if (name == "genetic") return std::make_unique<Genetic>(space, seed);
  if (name == "simulated_annealing") return std::make_unique<SimulatedAnnealing>(space, seed);
  if (name == "local_search") return std::make_unique<LocalSearch>(space, seed);
  if (name == "differential_evolution") return std::make_unique<DifferentialEvolution>(space, seed);
  if (name == "particle_swarm") return std::make_unique<ParticleSwarm>(space, seed);
  throw Error(ErrorCode::usage, fmt::format("there is no strategy '{}'{}", name,
                                            did_you_mean(name, strategy_names())));
}

}  // namespace tuner::search
