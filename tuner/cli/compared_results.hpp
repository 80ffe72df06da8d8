// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/report/comparison.hpp"

#include <string>

namespace tuner::cli {

/// The results that `text` names: "DB", "DB@WORDS" (report::results_about) or "@WORDS" of the
/// database of the options. Throws Error(nothing_found) when there are none, with what the database
/// holds.
[[nodiscard]] report::ComparedResults compared_results(const CommonOptions& common,
                                                       const std::string& text);

}  // namespace tuner::cli
