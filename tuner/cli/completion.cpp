// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

namespace tuner::cli {
namespace {

/// Calls `visit` with a command and the words that name it, "tune space check", and with all below.
void each_command(const CommandDescription& command, const std::string& path,
                  const std::function<void(const CommandDescription&, const std::string&)>& visit) {
  visit(command, path);
  for (const CommandDescription& sub : command.commands) {
    each_command(sub, path + " " + sub.name, visit);
  }
}

/// Between single quotes, where only these end.
std::string in_single_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += R"('\'')";
    } else {
      result += c;
    }
  }
  return result + "'";
}

/// Whether an option names a kernel that a space file or the database has.
bool takes_kernel(const OptionDescription& option) {
  return std::ranges::find(option.names, "--kernel") != option.names.end();
}

/// The shell's command that lists what the database has for an option, a value a line; empty: there
/// is none.
std::string stored_values(const OptionDescription& option) {
  constexpr std::string_view kList = "tune query 2>/dev/null | tail -n +2 | cut -f";
  constexpr std::array<std::pair<std::string_view, int>, 3> kColumns = {
      {{"--kernel", 1}, {"--size", 2}, {"--device", 3}}};
  for (const auto& [name, column] : kColumns) {
    if (std::ranges::find(option.names, name) == option.names.end()) continue;
    return fmt::format("{}{} | sort -u", kList, column);
  }
  if (option.is_positional && option.value == "ID") {
    return "tune runs list 2>/dev/null | tail -n +2 | cut -f1";
  }
  return {};
}

std::string bash_script(const CommandDescription& program) {
  OptionDescription kernel;
  kernel.names = {"--kernel"};
  std::string descents;
  std::string values;
  std::string words;
  each_command(program, program.name, [&](const auto& command, const std::string& path) {
    std::vector<std::string> offered;
    for (const CommandDescription& sub : command.commands) {
      offered.push_back(sub.name);
      descents +=
          fmt::format("      {0}) command={0} ;;\n", in_single_quotes(path + " " + sub.name));
    }
    for (const OptionDescription& option : command.options) {
      if (option.is_positional) continue;
      offered.insert(offered.end(), option.names.begin(), option.names.end());
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(in_single_quotes(fmt::format("{} {}", path, name)));
      }
      if (const std::string command_line = stored_values(option); !command_line.empty()) {
        values += fmt::format("    {}) _tune_lines \"$current\" < <({}); return ;;\n",
                              fmt::join(patterns, " | "),
                              takes_kernel(option) ? "_tune_kernels" : command_line);
        continue;
      }
      values += fmt::format("    {}) COMPREPLY=($(compgen -W {} -- \"$current\")); return ;;\n",
                            fmt::join(patterns, " | "),
                            in_single_quotes(fmt::format("{}", fmt::join(choices(option), " "))));
    }
    std::string stored;
    for (const OptionDescription& option : command.options) {
      if (!option.is_positional) continue;
      const std::string command_line = stored_values(option);
      if (!command_line.empty()) stored += fmt::format("\" $({})\"", command_line);
      std::ranges::copy(choices(option), std::back_inserter(offered));
      if (option.value != "COMMAND") continue;
      for (const CommandDescription& sub : program.commands) offered.push_back(sub.name);
    }
    words += fmt::format("    {}) words={}{} ;;\n", in_single_quotes(path),
                         in_single_quotes(fmt::format("{}", fmt::join(offered, " "))), stored);
  });
  // Without a word to offer, as after --space, `-o default` completes the names of files.
  return fmt::format(
      R"bash(# Completes the command line of tune in bash. Load it with: source <(tune completion bash)
_tune_lines() {{
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == "$1"* ]] || continue
    printf -v line %q "$line"
    COMPREPLY+=("$line")
  done
}}
# Of the space file that the line names, else of the database.
_tune_kernels() {{
  local word file=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $word == *.json ]] && file=$word
  done
  if [[ -n $file ]]; then
    COLUMNS=1000 tune space check "$file" 2>/dev/null | sed -n 's/^\([A-Za-z0-9_]*\): .*/\1/p'
  else
    {3}
  fi
}}
_tune() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=tune word words=
  # --kernel=NAME is three words here.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
{0}    esac
  done
  case "$command $previous" in
{1}  esac
  case "$command" in
{2}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _tune tune
)bash",
      descents, values, words, stored_values(kernel));
}

/// Text within an _arguments specification: a colon and brackets mean something there.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// How _arguments completes a value.
std::string zsh_value(const OptionDescription& option) {
  if (takes_path(option)) return ":" + zsh_text(option.value) + ":_files";
  const auto words = choices(option);
  if (!words.empty()) return fmt::format(":value:({})", fmt::join(words, " "));
  if (const std::string command_line = stored_values(option); !command_line.empty()) {
    return ":value:{compadd -- ${(f)\"$(" + command_line + ")\"}}";
  }
  return ":" + zsh_text(option.value) + ": ";
}

std::string zsh_option(const OptionDescription& option, const std::string& name) {
  if (option.is_positional) return in_single_quotes("*" + zsh_value(option));
  return in_single_quotes(fmt::format("*{}[{}]{}", name, zsh_text(option.text),
                                      option.value.empty() ? "" : zsh_value(option)));
}

std::string zsh_script(const CommandDescription& program) {
  std::string functions;
  each_command(program, "_" + program.name, [&](const auto& command, std::string path) {
    std::ranges::replace(path, ' ', '_');
    std::string lines;
    for (const OptionDescription& option : command.options) {
      for (const std::string& name : option.names) {
        lines += " \\\n    " + zsh_option(option, name);
      }
    }
    if (command.commands.empty()) {
      functions += fmt::format("{}() {{\n  _arguments{}\n}}\n", path, lines);
      return;
    }
    std::string names;
    for (const CommandDescription& sub : command.commands) {
      names += "    " + in_single_quotes(sub.name + ":" + zsh_text(sub.text)) + "\n";
    }
    functions += fmt::format(
        R"({0}() {{
  local state line
  local -a commands=(
{1}  )
  _arguments -C{2} \
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) (( $+functions[{0}_$line[1]] )) && {0}_$line[1] ;;
  esac
}}
)",
        path, names, lines);
  });
  return fmt::format(
      "#compdef tune\n# Completes the command line of tune in zsh: save it as _tune in a directory "
      "of $fpath.\n{}compdef _tune tune\n",
      functions);
}

/// When a command's words are offered: it was given, and none of those below it.
std::string fish_condition(const CommandDescription& command, const std::string& path) {
  std::vector<std::string> below;
  for (const CommandDescription& sub : command.commands) below.push_back(sub.name);
  std::string condition;
  const std::size_t first = path.find(' ');
  for (std::size_t at = first; at != std::string::npos;) {
    const std::size_t end = path.find(' ', at + 1);
    condition += "__fish_seen_subcommand_from " + path.substr(at + 1, end - at - 1) + "; and ";
    at = end;
  }
  if (!below.empty()) {
    condition += fmt::format("not __fish_seen_subcommand_from {}", fmt::join(below, " "));
  } else {
    condition.resize(condition.size() - std::string_view("; and ").size());
  }
  return condition;
}

std::string fish_script(const CommandDescription& program) {
  std::string lines;
  each_command(program, program.name, [&](const auto& command, const std::string& path) {
    const std::string when = in_single_quotes(fish_condition(command, path));
    for (const CommandDescription& sub : command.commands) {
      lines += fmt::format("complete -c tune -n {} -f -a {} -d {}\n", when,
                           in_single_quotes(sub.name), in_single_quotes(sub.text));
    }
    for (const OptionDescription& option : command.options) {
      if (option.is_positional) continue;
      std::string names;
      for (const std::string& name : option.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      std::string value;
      if (!option.value.empty()) value = takes_path(option) ? " -r -F" : " -x";
      if (const auto words = choices(option); !words.empty()) {
        value += " -a " + in_single_quotes(fmt::format("{}", fmt::join(words, " ")));
      } else if (const std::string command_line = stored_values(option); !command_line.empty()) {
        value += " -a " + in_single_quotes("(" + command_line + ")");
      }
      lines += fmt::format("complete -c tune -n {}{}{} -d {}\n", when, names, value,
                           in_single_quotes(option.text));
    }
  });
  return "# Completes the command line of tune in fish. Load it with: tune completion fish | "
         "source\n" +
         lines;
}

}  // namespace

std::string completion_script(const CommandDescription& program, std::string_view shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw Error(
      ErrorCode::usage,
      fmt::format("unknown shell '{}': there are completions for bash, zsh and fish", shell));
}

}  // namespace tuner::cli
