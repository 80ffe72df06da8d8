// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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
};

/// A command with its options, as the parser of the command line knows them.
struct CommandDescription {
  std::string name;
  std::string text;
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
};

/// The values of an option: "a|b|c" for these words, "STRATEGY" for the names of the
/// strategies, empty where it may be anything.
[[nodiscard]] std::vector<std::string> choices(const OptionDescription& option);

/// Whether the value is a file or a folder.
[[nodiscard]] bool takes_path(const OptionDescription& option);

}  // namespace tuner::cli
