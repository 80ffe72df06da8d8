// SPDX-License-Identifier: Apache-2.0
// Small recordings for the tests of this module.
#pragma once

#include "tests/search/grid.hpp"
#include "tuner/core/error.hpp"
#include "tuner/interop/recording.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tuner::lab {

using search::grid;

/// All of a definition's configurations, each with its time, or failed where there is none, at a
/// cost of one second.
inline interop::Recording recording_of(
    std::shared_ptr<const space::SpaceDefinition> definition,
    const std::function<std::optional<double>(const space::Config&)>& time_ms) {
  const space::Space space(definition, space::device_profile("h200")->attributes, {});
  interop::Recording recording;
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

}  // namespace tuner::lab
