// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/gain_model.hpp"

#include "tuner/select/triangle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tuner::select {
namespace {

/// How many gains the parameters count that they deviate so.
constexpr double kPriorOfGainScale = 20;

/// Of an exponent of a dimension, and of a time that is the same everywhere: both wide.
constexpr double kDeviationOfPowers = 3;
constexpr double kDeviationOfMean = 20;

/// Beyond these many the next hardly counts, and the work grows by their cube.
constexpr std::size_t kMostGainSizes = 64;

double squared(double value) {
  return value * value;
}

/// What values at known places tell of the one at the asked place, whose variance is given.
ExpectedRatio expected(const Triangle& triangle, std::span<const double> known,
                       std::span<const double> to_asked, double variance, double noise) {
  const std::vector<double> weights = triangle.solve(to_asked);
  const std::vector<double> surprises = triangle.solve(known);
  const double unknown = std::max(squared(noise), variance - dot(weights, weights));
  const double scale = (kPriorOfGainScale + dot(surprises, surprises)) /
                       (kPriorOfGainScale + static_cast<double>(known.size()));
  return {.ln_ratio = dot(weights, surprises), .error = std::sqrt(scale * unknown)};
}

double of_powers(const SizeFeatures& a, const SizeFeatures& b) {
  return squared(kDeviationOfMean) + squared(kDeviationOfPowers) * dot(a, b);
}

}  // namespace

GainModel::GainModel(std::span<const SizeFeatures> sizes, const SizeFeatures& asked,
                     const GainParameters& parameters)
    : parameters_(parameters), asked_(asked), order_(sizes.size()) {
  std::vector<double> distances;
  for (const SizeFeatures& it : sizes) distances.push_back(squared_distance(it, asked));
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [&](std::size_t it) { return distances[it]; });
  order_.resize(std::min(kMostGainSizes, order_.size()));
  places_.assign(sizes.size(), order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    places_[order_[i]] = i;
    near_.push_back(sizes[order_[i]]);
    to_asked_.push_back(common(near_.back(), asked));
    for (const SizeFeatures& other : near_) between_.push_back(common(near_.back(), other));
  }
}

GainModel::Common GainModel::common(const SizeFeatures& a, const SizeFeatures& b) const {
  const double squares = squared_distance(a, b);
  const double trend = std::exp(-squares / (2 * squared(parameters_.reach_of_trend)));
  return {.trend = trend,
          .all = squared(parameters_.trend) * trend +
                 squared(parameters_.rough) *
                     std::exp(-std::sqrt(squares) / parameters_.reach_of_rough)};
}

const GainModel::Common& GainModel::between(std::size_t a, std::size_t b) const {
  const auto [less, more] = std::minmax(a, b);
  return between_[more * (more + 1) / 2 + less];
}

ExpectedRatio GainModel::gain(std::span<const KnownGain> known, double imbalance,
                              double ln_by_work) const {
  const auto covariance = [&](const Common& sizes, double a, double b) {
    return sizes.all + squared(parameters_.imbalance) * a * b * sizes.trend;
  };
  std::vector<KnownGain> near;  // their sizes are places
  std::vector<double> gains, to_asked;
  for (const KnownGain& it : known) {
    const std::size_t place = places_[it.size];
    if (place == order_.size()) continue;
    near.push_back({.size = place, .imbalance = it.imbalance});
    gains.push_back(it.ln_gain - it.ln_by_work);
    to_asked.push_back(covariance(to_asked_[place], it.imbalance, imbalance));
  }
  const Triangle triangle(near.size(), [&](std::size_t i, std::size_t j) {
    return covariance(between(near[i].size, near[j].size), near[i].imbalance, near[j].imbalance) +
           (i == j ? squared(parameters_.noise) : 0);
  });
  ExpectedRatio gain = expected(
      triangle, gains, to_asked,
      covariance(common(asked_, asked_), imbalance, imbalance) + squared(parameters_.noise),
      parameters_.noise);
  gain.ln_ratio += ln_by_work;
  return gain;
}

ExpectedRatio GainModel::power_law(std::span<const double> known) const {
  std::vector<double> values, to_asked;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    values.push_back(known[order_[i]]);
    to_asked.push_back(to_asked_[i].all + of_powers(near_[i], asked_));
  }
  const Triangle triangle(order_.size(), [&](std::size_t i, std::size_t j) {
    return between(i, j).all + of_powers(near_[i], near_[j]) +
           (i == j ? squared(parameters_.noise) : 0);
  });
  return expected(
      triangle, values, to_asked,
      common(asked_, asked_).all + of_powers(asked_, asked_) + squared(parameters_.noise),
      parameters_.noise);
}

}  // namespace tuner::select
