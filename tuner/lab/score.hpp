// SPDX-License-Identifier: Apache-2.0
// How good a search was: the methodology of Willemsen et al., "A methodology for comparing
// optimization algorithms for auto-tuning" (FGCS 2024, doi 10.1016/j.future.2024.05.021).
// docs/reference/search.md describes it.
#pragma once

#include "tuner/interop/recording.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::lab {

/// What one run of a search tried, each configuration once.
struct Trace {
  std::vector<std::size_t> trials;  ///< indices into Recording::trials, in the order of trying
  std::vector<double> elapsed_s;    ///< for each, when its answer was there
};

/// What each trial of a recording costs, in seconds: 0 for one without a cost, but 1 for all of
/// them when none has one.
[[nodiscard]] std::vector<double> trial_costs_s(const interop::Recording& recording);

/// A score and its standard deviation over the time of the run. 0: as good as the expectation of a
/// random search, 1: the optimum at once; below 0 there is no limit.
struct Score {
  double mean = 0;
  double deviation = 0;
};

/// The scale that searches of one recording are measured on.
class Scale {
 public:
  /// Throws Error(usage) for a recording in which nothing ended `ok`.
  explicit Scale(const interop::Recording& recording);

  /// When a random search is expected to have come 95 % of the way from the median to the optimum.
  [[nodiscard]] double budget_s() const { return times_.back(); }

  /// How much better than random search, on the way from it to the optimum, the runs of one
  /// strategy are at 1000 instants up to the budget. Not a number where a random search is expected
  /// to have the optimum already and these do not. Throws Error(usage) when no run has a result in
  /// that time.
  [[nodiscard]] std::vector<double> standing(std::span<const Trace> runs) const;

 private:
  struct Costs {
    double median_s = 0;  ///< of a trial
    double draw_s = 0;    ///< what random search is taken to pay for one that ends `ok`
  };
  [[nodiscard]] Costs costs(const interop::Recording& recording) const;
  [[nodiscard]] double time_at(double share, double median_cost_s) const;
  [[nodiscard]] std::vector<double> random_search(double draw_s) const;
  [[nodiscard]] std::vector<double> typical_best(std::span<const Trace> runs) const;

  std::vector<double> value_;   // of each trial; not a number unless it ended ok
  std::vector<double> sorted_;  // those that are numbers, the best first
  double median_ = 0;
  std::vector<double> times_;     // the instants, in seconds
  std::vector<double> expected_;  // the best value of random search at each
};

/// The score of one space, or of several: the mean over the spaces at each instant, and then over
/// time. The standings are of one length; there is at least one.
[[nodiscard]] Score score(std::span<const std::vector<double>> standings);

}  // namespace tuner::lab
