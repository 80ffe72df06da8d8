// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace tuner::search {

/// A space of `parameters` parameters with `values` values each, and no constraints.
inline std::shared_ptr<const space::SpaceDefinition> grid(int parameters, int values) {
  Json kernel = {{"parameters", Json::object()}};
  for (int p = 0; p < parameters; ++p) {
    Json& list = kernel["parameters"][fmt::format("P{}", p)];
    list["default"] = 1;
    for (int value = 1; value <= values; ++value) list["values"].push_back(value);
  }
  return std::make_shared<space::SpaceDefinition>(
      space::parse_space_definition(kernel, {}, "grid"));
}

}  // namespace tuner::search
