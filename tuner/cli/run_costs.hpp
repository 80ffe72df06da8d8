// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"
#include "tuner/session/size_cost.hpp"
#include "tuner/store/records.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <vector>

namespace tuner::cli {

/// What a run took at each size, as a table with an explanation below it. Where the run had several
/// cards it says on which each size was won; `cards` are as of Store::cards.
[[nodiscard]] std::string costs_text(std::span<const session::SizeCost> costs,
                                     const std::vector<store::CardRecord>& cards,
                                     const Terminal& terminal);
/// The same as a list of objects, each with the uuid of its card where that is known.
[[nodiscard]] nlohmann::json costs_json(std::span<const session::SizeCost> costs,
                                        const std::vector<store::CardRecord>& cards);

}  // namespace tuner::cli
