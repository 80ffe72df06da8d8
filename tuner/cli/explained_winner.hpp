// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/opened_device.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <functional>
#include <string>

namespace tuner::cli {

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
