// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"
#include "tuner/core/json.hpp"

#include <string>

namespace tuner::cli {

/// A document of lab::sweep_json for people: times, rates and cycles by size and contender, the
/// transfers, who is skipped, the start-up, which of two is faster where.
[[nodiscard]] std::string sweep_text(const Json& sweep, const Terminal& terminal);

}  // namespace tuner::cli
