// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/axes.hpp"

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

}  // namespace tuner::search
