// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/command_tree.hpp"

#include <string>

namespace tuner::cli {

/// The manual page tune(1) in man(7) macros: every command with its options.
[[nodiscard]] std::string man_page(const CommandDescription& program);

}  // namespace tuner::cli
