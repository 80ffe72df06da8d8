// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/explanation.hpp"

#include <string>

namespace tuner::cli {

/// An explanation with what it was made on.
struct ExplainReport {
  const family::Family& family;
  const family::Kernel& kernel;
  const space::Size& size;
  const space::DeviceInfo& device;
  const space::EnvironmentInfo& environment;
  const session::Explanation& result;
};

/// For people: what bounds the best configuration, what each neighbour changes and costs, where it
/// is in the roofline model, what it takes of the device, the default, and what the library does
/// differently. Ends with a newline; not wrapped.
[[nodiscard]] std::string explain_text(const ExplainReport& report);
/// The document "tune.explain/1".
[[nodiscard]] Json explain_json(const ExplainReport& report);

}  // namespace tuner::cli
