// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {

/// An option as help texts, man pages and completions show it, or an argument without a name.
struct OptionDescription {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument without one "FILE"
  std::string value;               ///< what it takes, "FILE"; empty: nothing
  std::string default_value;       ///< empty: none
  std::string text;
  bool is_positional = false;
  bool is_required = false;
  bool is_common = false;  ///< of the program, taken by each command
};

/// A command with its options, as the parser of the command line knows them.
struct CommandDescription {
  std::string name;
  std::string text;
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
  std::vector<std::string> examples = {};  ///< command lines
};

/// The values of an option: "a|b|c" for these words, "STRATEGY" for the names of the
/// strategies, "MODEL" for those of the known devices, empty where it may be anything.
[[nodiscard]] std::vector<std::string> choices(const OptionDescription& option);

/// The whole command line. Commands take the program's common options, too.
[[nodiscard]] CommandDescription description_of(const CLI::App& program);

/// The command that `words` name, with the words in front of it. Throws Error(usage) for others.
[[nodiscard]] std::pair<CommandDescription, std::string> command_of(
    const CLI::App& program, const std::vector<std::string>& words);

/// The help text of a command, called as `path` ("tune space check").
[[nodiscard]] std::string help_text(const CommandDescription& command, const std::string& path,
                                    const Terminal& terminal);

/// The manual page tune(1) in man(7) macros: every command with its options.
[[nodiscard]] std::string man_page(const CommandDescription& program);

}  // namespace tuner::cli
