// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/space/space.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::interop {

/// The recorded result of one configuration.
struct RecordedTrial {
  space::Config config;
  Outcome outcome = Outcome::ok;
  std::optional<double> time_ms;  ///< when it ended `ok`; less is better
  std::optional<double> cost_s;   ///< what trying it took: compiling, verifying, timing
};

/// The measured configurations of a kernel on a device: what a replay answers from.
struct Recording {
  std::string kernel;
  std::string device;
  std::string problem;
  std::shared_ptr<const space::SpaceDefinition> definition;
  std::vector<RecordedTrial> trials;  ///< each configuration once, in the order of the file
};

}  // namespace tuner::interop
