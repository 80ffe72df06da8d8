// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/command_tree.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {

/// The whole command line. Commands take the program's common options, too.
[[nodiscard]] CommandDescription description_of(const CLI::App& program);

/// The command that `words` name, with the words in front of it. Throws Error(usage) for others.
[[nodiscard]] std::pair<CommandDescription, std::string> command_of(
    const CLI::App& program, const std::vector<std::string>& words);

}  // namespace tuner::cli
