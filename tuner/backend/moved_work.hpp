// SPDX-License-Identifier: Apache-2.0
// Work on data that lie elsewhere.
#pragma once

#include "tuner/backend/backend.hpp"

#include <utility>

namespace tuner::backend {

/// The launch with each region of its arguments replaced by `place_of(region)`.
template <class PlaceOf>
[[nodiscard]] Launch moved(Launch launch, const PlaceOf& place_of) {
  for (StepLaunch& step : launch.steps) {
    for (LaunchArgument& argument : step.arguments) {
      if (auto* region = std::get_if<Region>(&argument)) *region = place_of(*region);
      if (auto* tensor = std::get_if<Tensor>(&argument)) tensor->region = place_of(tensor->region);
    }
  }
  return launch;
}

/// A call of the library with its regions moved.
template <class PlaceOf>
[[nodiscard]] LibraryCall moved(LibraryCall call, const PlaceOf& place_of) {
  for (Region& region : call.operands.places) region = place_of(region);
  return call;
}

template <class PlaceOf>
[[nodiscard]] Work moved(Work work, const PlaceOf& place_of) {
  return std::visit([&](auto& one) -> Work { return moved(std::move(one), place_of); }, work);
}

}  // namespace tuner::backend
