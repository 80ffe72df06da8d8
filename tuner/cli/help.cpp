// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

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

/// Text as troff takes it: a hyphen that can be copied, no escapes, no line that is a request.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

/// A description with a full stop, which help texts leave out.
std::string sentence(std::string_view text) {
  return roff(text) + (text.ends_with('.') ? "" : ".");
}

/// The item of a list: names in bold, what they take in italics.
std::string item(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(fmt::format("\\f{}{}\\fR", option.is_positional ? 'I' : 'B', roff(name)));
  }
  std::string result = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.is_positional && !option.value.empty()) {
    result += " \\fI" + roff(option.value) + "\\fR";
  }
  result += "\n" + sentence(option.text);
  if (!option.default_value.empty()) result += " Default: " + roff(option.default_value) + ".";
  return result + "\n";
}

std::string synopsis(const CommandDescription& command, const std::string& path) {
  std::string line = ".B " + roff(path) + "\n[options]";
  for (const OptionDescription& option : command.options) {
    if (!option.is_positional) continue;
    const std::string name = "\\fI" + roff(option.names.front()) + "\\fR";
    line += option.is_required ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

/// A section of a command, and of those below it.
std::string sections(const CommandDescription& command, const std::string& path) {
  std::string page;
  if (command.commands.empty() || command.options.size() > 1) {
    page = fmt::format(".SS {}\n{}\n.PP\n{}", roff(path), sentence(command.text),
                       synopsis(command, path));
    for (const OptionDescription& option : command.options) page += item(option);
  }
  for (const CommandDescription& sub : command.commands) {
    page += sections(sub, path + " " + sub.name);
  }
  return page;
}

}  // namespace

std::string help_text(const CommandDescription& command, const std::string& path,
                      const Terminal& terminal) {
  std::string usage = path;
  std::string arguments, options, commands, examples;
  for (const OptionDescription& option : command.options) {
    if (option.is_common) continue;  // `tune help` lists them once
    (option.is_positional ? arguments : options) += option_entry(option, terminal);
    if (!option.is_positional) continue;
    const std::string& name = option.names.front();
    usage += option.is_required ? " " + name : fmt::format(" [{}]", name);
  }
  for (const CommandDescription& sub : command.commands) {
    commands += entry(sub.name, sub.text, terminal);
  }
  for (const std::string& example : command.examples) examples += "  " + example + "\n";
  if (!options.empty()) usage += " [OPTIONS]";
  if (!commands.empty()) usage += " [COMMAND]";
  std::string text = fmt::format("{}\n\n{}\n", command.text, usage);
  for (const auto& [heading, part] : {std::pair{"Arguments", &arguments},
                                      {"Commands", &commands},
                                      {"Options", &options},
                                      {"Examples", &examples}}) {
    if (part->empty()) continue;
    text += fmt::format("\n{}\n{}", terminal.colored(heading, Color::bold), *part);
  }
  const bool takes_common = std::ranges::any_of(command.options, &OptionDescription::is_common);
  if (takes_common) text += "\nCommon options: tune --help\n";
  return text;
}

std::string man_page(const CommandDescription& program) {
  return fmt::format(
      ".TH TUNE 1 \"\" \"tune {0}\" \"User Commands\"\n"
      ".SH NAME\ntune \\- autotuner for CUDA kernels\n"
      ".SH SYNOPSIS\n.B tune \\-\\-space\n\\fIFILE\\fR [options]\n.br\n.B tune\n\\fICOMMAND\\fR "
      "[options]\n"
      ".SH DESCRIPTION\n{1}\n"
      ".SH COMMANDS AND OPTIONS\n{2}"
      ".SH EXIT STATUS\n"
      "0 done; 1 failure; 2 wrong usage or a file that cannot be used; 3 no device; 4 no valid "
      "configuration; 5 nothing found; 6 regression; 129, 130 or 143 interrupted, results are "
      "kept.\n",
      TUNER_VERSION, roff(program.text), sections(program, program.name));
}

}  // namespace tuner::cli
