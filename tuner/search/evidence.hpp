// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/covariance.hpp"

#include <random>
#include <span>

namespace tuner::search {

/// What is held likely of hyperparameters before anything was observed.
struct Prior {
  Correlation correlation = Correlation::exponential;
  double length = 1.5;          ///< median of the lengths, in whole axes
  double length_spread = 1;     ///< standard deviation of their logarithms
  double most_additive = 0.98;  ///< 0: the product alone
};

/// The logarithm of the evidence for hyperparameters that observations at `points` of `values`
/// give, the process' variance being its most likely one, plus that of the prior; up to
/// a constant (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, eq.
/// 5.8). Negative infinity where the covariance is not positive definite.
[[nodiscard]] double log_evidence(const Axes& axes, const Prior& prior,
                                  const Hyperparameters& hyperparameters,
                                  std::span<const Point> points, std::span<const double> values);

/// Hyperparameters with no less evidence than `start`: the best of a number of random
/// changes of one of them at a time. There are few, they matter little, and their likelihood has
/// many maxima, so a gradient would not find better ones.
[[nodiscard]] Hyperparameters improved(const Axes& axes, const Prior& prior, Hyperparameters start,
                                       std::span<const Point> points,
                                       std::span<const double> values, int changes,
                                       std::mt19937_64& random);

/// The hyperparameters that the prior holds for the most likely.
[[nodiscard]] Hyperparameters likely_hyperparameters(const Axes& axes, const Prior& prior);

}  // namespace tuner::search
