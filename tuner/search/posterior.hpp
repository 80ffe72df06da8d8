// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/covariance.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tuner::search {

/// What is observed at a point: two quantities with one covariance.
inline constexpr std::size_t kQuantities = 2;
using Quantities = std::array<double, kQuantities>;

/// A Gaussian process of mean 0 and variance 1 at a growing list of candidates, given observations
/// at some of them (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, ch.
/// 2).
///
/// The covariance K of the observations is kept as its Cholesky factor L, and L⁻¹ k(x) for every
/// candidate x, so that an observation costs O(observations · candidates) and a prediction nothing.
class Posterior {
 public:
  explicit Posterior(Covariance covariance) : covariance_(std::move(covariance)) {}

  /// Adds candidates. They are numbered from 0, in the order of their adding.
  void add(std::span<const Point> candidates);
  /// That a candidate is being observed. Until the answer is known it is believed to be what is
  /// predicted, so that only the uncertainty shrinks, here and around (the "kriging believer" of
  /// Ginsbourger et al., 2010). Observations are numbered from 0.
  void observe(std::size_t candidate);
  /// What came of an observation; may be said again.
  void answer(std::size_t observation, const Quantities& values);

  [[nodiscard]] std::size_t candidates() const { return variance_.size(); }
  [[nodiscard]] std::size_t observations() const { return observed_.size(); }
  [[nodiscard]] double mean(std::size_t quantity, std::size_t candidate) const {
    return mean_[quantity][candidate];
  }
  [[nodiscard]] double variance(std::size_t candidate) const { return variance_[candidate]; }
  /// The most likely variance of the process that a quantity is a sample of.
  [[nodiscard]] double scale(std::size_t quantity) const;

 private:
  struct Observation {
    std::size_t candidate = 0;
    std::vector<float> factor = {};    // its row of L
    std::vector<float> whitened = {};  // its row of L⁻¹ k(candidates)
    bool answered = false;
    Quantities values = {};
    Quantities weight = {};  // its element of L⁻¹ values
  };

  [[nodiscard]] std::span<const std::uint16_t> point(std::size_t candidate) const {
    return {&choices_[candidate * covariance_.axes()], covariance_.axes()};
  }
  void whiten(std::size_t observation, std::size_t first, std::size_t last);

  Covariance covariance_;
  std::vector<std::uint16_t> choices_;  // of all candidates, one after the other
  std::vector<Observation> observed_;
  std::array<std::vector<float>, kQuantities> mean_;
  std::vector<float> variance_;
};

}  // namespace tuner::search
