// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/opened_device.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/store/store.hpp"

#include <functional>
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

/// Why the best configuration of a size is the fastest: as explain_text and explain_json make it.
struct ExplainedWinner {
  std::string text;
  Json document;
};

/// Explains the best configuration that is stored of a size, and stores why; where that is not
/// possible, stderr says so. Throws Error(nothing_found) without a best one, Error(no_valid_config)
/// where it is not valid any more, and as session::explain.
[[nodiscard]] ExplainedWinner explain_winner(store::Store& store, const family::Family& family,
                                             const family::Kernel& kernel, const space::Size& size,
                                             OpenedDevice& opened,
                                             const std::function<bool()>& stop);

}  // namespace tuner::cli
