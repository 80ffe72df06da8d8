// SPDX-License-Identifier: Apache-2.0
// Small recordings for the tests of this module.
#pragma once

#include "tuner/core/error.hpp"
#include "tuner/search/recording.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

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

/// All of a definition's configurations, each with its time, or failed where there is none, at a
/// cost of one second.
inline Recording recording_of(
    std::shared_ptr<const space::SpaceDefinition> definition,
    const std::function<std::optional<double>(const space::Config&)>& time_ms) {
  const space::Space space(definition, space::device_profile("h200")->attributes, {});
  Recording recording;
  recording.definition = std::move(definition);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const space::Config config = space.at(i);
    const std::optional<double> time = time_ms(config);
    recording.trials.push_back({.config = config,
                                .outcome = time ? Outcome::ok : Outcome::compile_error,
                                .time_ms = time,
                                .cost_s = 1});
  }
  return recording;
}

/// The message of the Error(usage) that `action` throws.
template <class Action>
std::string usage_error(Action action) {
  try {
    action();
  } catch (const Error& caught) {
    EXPECT_EQ(caught.code(), ErrorCode::usage);
    return caught.what();
  }
  return "accepted";
}

}  // namespace tuner::search
