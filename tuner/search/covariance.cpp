// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/covariance.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::search {
namespace {

std::vector<double> places_of(const space::Parameter& parameter) {
  std::vector<double> places;
  const bool words = parameter.value_kind == space::ValueKind::word;
  for (const space::ParameterValue& value : parameter.values) {
    places.push_back(
        static_cast<double>(words ? static_cast<std::int64_t>(places.size()) : value.number));
  }
  const auto positive = [](double place) { return place > 0; };
  if (!words && std::ranges::all_of(places, positive)) {
    for (double& place : places) place = std::log2(place);
  }
  const auto [low, high] = std::ranges::minmax(places);
  for (double& place : places) place = (place - low) / (high - low);
  return places;
}

double correlation_at(Correlation correlation, double distance) {
  if (correlation == Correlation::exponential) return std::exp(-distance);
  const double r = std::sqrt(5.0) * distance;
  return (1 + r + r * r / 3) * std::exp(-r);
}

}  // namespace

Axes::Axes(const space::SpaceDefinition& definition) {
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    if (definition.parameters[i].values.size() == 1) continue;
    parameters_.push_back(i);
    places_.push_back(places_of(definition.parameters[i]));
  }
}

Point Axes::point(const space::Config& config) const {
  Point point;
  point.reserve(parameters_.size());
  for (const std::size_t parameter : parameters_) {
    point.push_back(static_cast<std::uint16_t>(config.choice[parameter]));
  }
  return point;
}

Covariance::Covariance(const Axes& axes, Correlation correlation,
                       const Hyperparameters& hyperparameters)
    : additive_(hyperparameters.additive), noise_(hyperparameters.noise) {
  for (std::size_t axis = 0; axis < axes.count(); ++axis) {
    const std::span<const double> places = axes.places(axis);
    const double length = std::exp(hyperparameters.log_lengths[axis]);
    Table table{.values = places.size(), .correlation = {}};
    for (const double a : places) {
      for (const double b : places) {
        table.correlation.push_back(
            static_cast<float>(correlation_at(correlation, std::abs(a - b) / length)));
      }
    }
    tables_.push_back(std::move(table));
  }
}

double Covariance::between(std::span<const std::uint16_t> a,
                           std::span<const std::uint16_t> b) const {
  double product = 1;
  double first = 0;   // the sum over axes
  double second = 0;  // the sum over pairs of axes
  for (std::size_t axis = 0; axis < tables_.size(); ++axis) {
    const Table& table = tables_[axis];
    const double correlation = table.correlation[a[axis] * table.values + b[axis]];
    product *= correlation;
    second += first * correlation;
    first += correlation;
  }
  const auto axes = static_cast<double>(tables_.size());
  const double singles = first / axes;
  const double pairs = tables_.size() > 1 ? second / (axes * (axes - 1) / 2) : singles;
  return (1 - additive_) * product + additive_ / 2 * (singles + pairs);
}

}  // namespace tuner::search
