// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/command_description.hpp"

#include <string>
#include <string_view>

namespace tuner::cli {

/// The script with which a shell completes the program's command line. Throws Error(usage) unless
/// the shell is bash, zsh or fish.
[[nodiscard]] std::string completion_script(const CommandDescription& program,
                                            std::string_view shell);

}  // namespace tuner::cli
