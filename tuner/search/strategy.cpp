// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/search/bayesian.hpp"
#include "tuner/search/exhaustive.hpp"
#include "tuner/search/random_order.hpp"

#include <fmt/format.h>

namespace tuner {

std::vector<std::string> strategy_names() {
  return {"auto", "bayesian", "exhaustive", "random"};
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

std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space,
                                        std::uint64_t seed) {
  if (name == "exhaustive") return std::make_unique<Exhaustive>(space);
  if (name == "auto") return std::make_unique<Bayesian>(space, seed, BayesianSettings{});
  if (name == "bayesian") return std::make_unique<Bayesian>(space, seed, textbook());
  if (name == "random") return std::make_unique<RandomOrder>(space, seed);
  throw Error(ErrorCode::usage, fmt::format("no strategy is called '{}'{}", name,
                                            did_you_mean(name, strategy_names())));
}

}  // namespace tuner
