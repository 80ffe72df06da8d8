// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/search/bayesian.hpp"
#include "tuner/search/differential_evolution.hpp"
#include "tuner/search/genetic.hpp"
#include "tuner/search/local_search.hpp"
#include "tuner/search/particle_swarm.hpp"
#include "tuner/search/random_order.hpp"
#include "tuner/search/simulated_annealing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::search {
namespace {

/// Snoek, Larochelle, Adams, "Practical Bayesian Optimization of Machine Learning Algorithms",
/// NIPS 2012: one smooth covariance, all observations alike.
BayesianSettings textbook() {
  return {.prior = {.correlation = Correlation::matern52, .length = 0.6, .most_additive = 0},
          .slow_side = 1,
          .initial = 10,
          .candidates = Candidates::anywhere};
}

using Make = std::unique_ptr<Strategy> (*)(const space::Space&, std::uint64_t seed);

template <class Kind>
std::unique_ptr<Strategy> make(const space::Space& space, std::uint64_t seed) {
  return std::make_unique<Kind>(space, seed);
}

struct NamedStrategy {
  std::string_view name;
  Make make;
};

/// Every strategy; the first is the default.
constexpr std::array kStrategies = {
    NamedStrategy{"auto",
                  [](const space::Space& space, std::uint64_t seed) -> std::unique_ptr<Strategy> {
                    return std::make_unique<Bayesian>(space, seed, BayesianSettings{});
                  }},
    NamedStrategy{"exhaustive",
                  [](const space::Space& space, std::uint64_t) -> std::unique_ptr<Strategy> {
                    return std::make_unique<Exhaustive>(space);
                  }},
    NamedStrategy{"random", make<RandomOrder>},
    NamedStrategy{"bayesian",
                  [](const space::Space& space, std::uint64_t seed) -> std::unique_ptr<Strategy> {
                    return std::make_unique<Bayesian>(space, seed, textbook());
                  }},
    NamedStrategy{"differential_evolution", make<DifferentialEvolution>},
    NamedStrategy{"genetic", make<Genetic>},
    NamedStrategy{"local_search", make<LocalSearch>},
    NamedStrategy{"particle_swarm", make<ParticleSwarm>},
    NamedStrategy{"simulated_annealing", make<SimulatedAnnealing>},
};

}  // namespace

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  names.reserve(kStrategies.size());
  for (const NamedStrategy& each : kStrategies) names.emplace_back(each.name);
  return names;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const space::Space& space,
                                        std::uint64_t seed) {
  const auto* const found = std::ranges::find(kStrategies, name, &NamedStrategy::name);
  if (found != kStrategies.end()) return found->make(space, seed);
  throw Error(ErrorCode::usage, fmt::format("there is no strategy '{}'{}", name,
                                            did_you_mean(name, strategy_names())));
}

}  // namespace tuner::search
