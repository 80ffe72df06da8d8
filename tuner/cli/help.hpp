// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/command_description.hpp"
#include "tuner/cli/terminal.hpp"

#include <string>

namespace tuner::cli {

/// The help text of a command, called as `path` ("tune space check").
[[nodiscard]] std::string help_text(const CommandDescription& command, const std::string& path,
                                    const Terminal& terminal);

/// The manual page tune(1) in man(7) macros: every command with its options.
[[nodiscard]] std::string man_page(const CommandDescription& program);

}  // namespace tuner::cli
