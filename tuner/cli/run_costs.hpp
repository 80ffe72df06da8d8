// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"
#include "tuner/session/size_cost.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

namespace tuner::cli {

/// What a run took at each size, as a table with an explanation below it.
[[nodiscard]] std::string costs_text(std::span<const session::SizeCost> costs,
                                     const Terminal& terminal);
/// The same as a list of objects.
[[nodiscard]] nlohmann::json costs_json(std::span<const session::SizeCost> costs);

}  // namespace tuner::cli
