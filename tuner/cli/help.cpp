// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tuner::cli {
namespace {

/// A name and, in a second column, what it means; below it where the name is long.
std::string entry(const std::string& name, const std::string& meaning, const Terminal& terminal) {
  constexpr std::size_t kColumn = 26;
  std::string text = "  " + name;
  const std::string indent(kColumn, ' ');
  const std::size_t width = text_width(text);
  text += width + 2 > kColumn ? "\n" + indent : std::string(kColumn - width, ' ');
  return text + fmt::format("{}\n",
                            fmt::join(wrapped(meaning, terminal.width() - kColumn), "\n" + indent));
}

std::string option_entry(const OptionDescription& option, const Terminal& terminal) {
  std::string name = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.is_positional && !option.value.empty()) name += " " + option.value;
  std::string meaning = option.text;
  if (!option.default_value.empty()) meaning += fmt::format(" [{}]", option.default_value);
  return entry(name, meaning, terminal);
}

}  // namespace

std::string help_text(const CommandDescription& command, const std::string& path,
                      const Terminal& terminal) {
  std::string usage = path;
  std::string arguments, options, commands;
  for (const OptionDescription& option : command.options) {
    (option.is_positional ? arguments : options) += option_entry(option, terminal);
    if (!option.is_positional) continue;
    const std::string& name = option.names.front();
    usage += option.is_required ? " " + name : fmt::format(" [{}]", name);
  }
  for (const CommandDescription& sub : command.commands) {
    commands += entry(sub.name, sub.text, terminal);
  }
  if (!options.empty()) usage += " [OPTIONS]";
  if (!commands.empty()) usage += " [COMMAND]";
  std::string text = fmt::format("{}\n\n{}\n", command.text, usage);
  for (const auto& [heading, part] :
       {std::pair{"Arguments", &arguments}, {"Commands", &commands}, {"Options", &options}}) {
    if (part->empty()) continue;
    text += fmt::format("\n{}\n{}", terminal.colored(heading, Color::bold), *part);
  }
  return text;
}

}  // namespace tuner::cli
