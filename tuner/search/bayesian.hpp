// SPDX-License-Identifier: Apache-2.0
// Module search: strategies that propose configurations to try (`ask`) and learn from what came of
// them (`tell`). They see no device, no clock and no database.
#pragma once

#include "tuner/search/evidence.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/surrogate.hpp"
#include "tuner/search/visited_set.hpp"

#include <map>
#include <random>
#include <set>
#include <utility>

namespace tuner::search {

/// Which configurations a surrogate judges.
enum class Candidates {
  anywhere,                ///< the whole space, or a uniform sample of a large one
  anywhere_and_near_best,  ///< and in a large one what differs little from the fastest
};

/// What is fixed of a Bayesian search. The values were chosen on recorded
/// spaces; docs/results/search.md has their cross-validated scores.
struct BayesianSettings {
  Prior prior = {};
  double slow_side = 0.25;  ///< see Response
  std::size_t initial = 6;  ///< random configurations before there is a model
  Candidates candidates = Candidates::anywhere_and_near_best;
};

/// Bayesian optimisation: after a few random configurations a Gaussian process is fitted to what is
/// known, and what it holds for the most promising is tried next.
///
/// `ask` may come before answers to the last one. Failures are learnt as such: where they are
/// likely, little is tried. The process is fitted anew whenever there is a quarter more to learn
/// from, its hyperparameters as long as that changes them.
class Bayesian : public Strategy {
 public:
  Bayesian(const space::Space& space, std::uint64_t seed, const BayesianSettings& settings);

  std::vector<space::Config> ask(std::size_t count, Budget budget) override;
  void tell(const space::Config& config, Outcome outcome, std::optional<double> time_ns) override;

 private:
  [[nodiscard]] std::optional<space::Config> next();
  [[nodiscard]] bool initial() const;
  [[nodiscard]] bool fit_is_due() const;
  [[nodiscard]] bool looks_again() const;
  void fit();
  void improve_hyperparameters();
  [[nodiscard]] std::vector<std::size_t> training();
  [[nodiscard]] std::vector<space::Config> candidates();
  [[nodiscard]] std::vector<space::Config> near_best();
  /// What differs in one parameter from a configuration and was not seen.
  [[nodiscard]] std::vector<space::Config> unvisited_neighbours(const space::Config& config) const;
  [[nodiscard]] std::optional<space::Config> begun(std::optional<space::Config> config);
  [[nodiscard]] std::size_t trial_of(const space::Config& config);

  const space::Space& space_;
  BayesianSettings settings_;
  std::mt19937_64 random_;
  VisitedSet visited_;
  Axes axes_;
  Hyperparameters hyperparameters_;
  std::vector<Trial> trials_;
  std::map<space::Config, std::size_t> index_;        // into trials_
  std::set<std::pair<double, std::size_t>> by_time_;  // of the trials that worked
  std::size_t answered_ = 0;
  std::optional<Surrogate> surrogate_;
  std::size_t fitted_ = 0;  // the answers that the surrogate was fitted to
  std::size_t looked_ = 0;  // the number of answers at the last search for candidates near the best
};

}  // namespace tuner::search
