// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tuner::search {

/// A configuration as the surrogate sees it: the choice on each axis.
using Point = std::vector<std::uint16_t>;

/// The parameters of a space that vary, each with a place between 0 and 1 for every value: by its
/// logarithm where all values are positive numbers, since doubling is what a tile or an unrolling
/// does; else by its number; words one after the other.
class Axes {
 public:
  explicit Axes(const space::SpaceDefinition& definition);

  [[nodiscard]] std::size_t count() const { return places_.size(); }
  /// The places of an axis' values.
  [[nodiscard]] std::span<const double> places(std::size_t axis) const { return places_[axis]; }
  [[nodiscard]] Point point(const space::Config& config) const;

 private:
  std::vector<std::size_t> parameters_;
  std::vector<std::vector<double>> places_;
};

/// How the correlation of two values falls with the distance r of their places, in lengths.
enum class Correlation {
  exponential,  ///< e⁻ʳ: neighbouring values may differ by a jump, as a lost block of occupancy
                ///< makes them
  matern52,     ///< (1 + √5 r + 5/3 r²) e^(−√5 r): they differ smoothly
};

/// What a covariance learns from observations.
struct Hyperparameters {
  /// ln ℓ for each axis: how far along it, in places, two configurations still resemble each other.
  std::vector<double> log_lengths;
  double additive = 0.5;  ///< w, from 0 to 1
  double noise = 0.02;    ///< the variance of an observation beside the process' own of 1
};

/// How much the values at two points a and b are expected to have in common:
///
///   (1 − w) · Πᵢ kᵢ  +  w/2 · meanᵢ kᵢ  +  w/2 · meanᵢ<ⱼ kᵢkⱼ,    kᵢ = c(|aᵢ − bᵢ| / ℓᵢ)
///
/// The additive terms of first and second order (Duvenaud, Nickisch, Rasmussen, "Additive Gaussian
/// Processes", NIPS 2011) learn from few observations what a parameter does whatever the others
/// are; the product learns the rest.
class Covariance {
 public:
  Covariance(const Axes& axes, Correlation correlation, const Hyperparameters& hyperparameters);

  [[nodiscard]] std::size_t axes() const { return tables_.size(); }
  [[nodiscard]] double noise() const { return noise_; }
  [[nodiscard]] double between(std::span<const std::uint16_t> a,
                               std::span<const std::uint16_t> b) const;

 private:
  struct Table {
    std::size_t values;
    std::vector<float> correlation;  // kᵢ of every two values
  };
  std::vector<Table> tables_;
  double additive_;
  double noise_;
};

}  // namespace tuner::search
