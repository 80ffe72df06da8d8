// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command_description.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

namespace tuner::cli {
namespace {

OptionDescription description_of(const CLI::Option& option) {
  OptionDescription description{.names = {},
                                .value = option.get_type_size() == 0 ? "" : option.get_type_name(),
                                .default_value = option.get_default_str(),
                                .text = option.get_description(),
                                .is_positional = option.get_positional(),
                                .is_required = option.get_required()};
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  if (description.is_positional) description.names = {option.get_type_name()};
  return description;
}

/// Two command lines of a command; none of one whose usage says all.
std::vector<std::string> examples_of(std::string_view command) {
  struct Examples {
    std::string_view command, first, second;
  };
  constexpr std::array<Examples, 16> kExamples = {{
      {"tune", "tune --space saxpy.json --kernel saxpy --size 1000000",
       "tune --space spaces/gemm.json --sizes spaces/suites/fp32.json --max-time 1h"},
      {"finalize", "tune finalize --space saxpy.json",
       "tune finalize --space saxpy.json --kernel saxpy --energy"},
      {"bench", "tune bench --space saxpy.json --kernel saxpy --config best --config BLOCK=64",
       "tune bench --space spaces/gemm.json --kernel gemm_naive --range 64:512:x2"},
      {"portfolio", "tune portfolio --space spaces/gemm.json --sizes spaces/suites/fp32.json",
       "tune portfolio --space spaces/gemm.json --like sizes.json --draw 24 -k 8"},
      {"judge", "tune judge saxpy.json --json", "tune judge saxpy.json --config BLOCK=64 --store"},
      {"explain", "tune explain --kernel saxpy --size 1000000",
       "tune explain --space saxpy.json --kernel saxpy --size 1000000 --backend cpu"},
      {"query", "tune query", "tune query --kernel saxpy --size 1000000 --format cpp"},
      {"report", "tune report", "tune report --device 'NVIDIA H200' -o pages"},
      {"compare", "tune compare before.db after.db --fail-on 3%",
       "tune compare '@driver 570' '@driver 580' -o changes.html"},
      {"export", "tune export --family gemm -o gemm.jsonl",
       "tune export --format json --family gemm --code members -o table.json"},
      {"import", "tune import gemm.jsonl", "ssh gpu tune export | tune import -"},
      {"merge", "tune merge node1.db", "tune merge node1.db node2.db"},
      {"record", "tune record -o sizes.json -- python3 train.py",
       "tune record -o sizes.json -- ./solver input.txt"},
      {"capture", "tune capture --kernel spmv -- python3 solver.py",
       "tune capture --kernel spmv --source spmv.cu --launch 3 -o spmv -- ./solver"},
      {"exec", "tune exec -- python3 train.py", "tune exec -- ./solver input.txt"},
      {"completion", "source <(tune completion bash)", "tune completion fish | source"},
  }};
  const auto* const found = std::ranges::find(kExamples, command, &Examples::command);
  if (found == kExamples.end()) return {};
  return {std::string(found->first), std::string(found->second)};
}

/// A command as the parser knows it, with the common options.
CommandDescription description_of(const CLI::App& app,
                                  const std::vector<OptionDescription>& common) {
  CommandDescription description{
      .name = app.get_name(), .text = app.get_description(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    description.options.push_back(description_of(*option));
  }
  const auto has_it = [&](const OptionDescription& option) {
    return std::ranges::find(description.options, option.names, &OptionDescription::names) !=
           description.options.end();
  };
  for (const OptionDescription& option : common) {
    if (!has_it(option)) description.options.push_back(option);
  }
  description.examples = examples_of(app.get_name());
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    description.commands.push_back(description_of(*sub, common));
  }
  return description;
}

}  // namespace

std::vector<std::string> choices(const OptionDescription& option) {
  std::vector<std::string> words;
  if (option.value.starts_with("STRATEGY")) {
    for (const auto& name : search::strategy_names()) words.emplace_back(name);
  } else if (option.value == "MODEL") {
    words = space::device_profile_names();
  } else if (option.value.find('|') != std::string::npos) {
    for (const auto& word : std::views::split(option.value, '|')) {
      words.emplace_back(word.begin(), word.end());
    }
  }
  return words;
}

CommandDescription description_of(const CLI::App& program) {
  std::vector<OptionDescription> common;
  for (const char* name : {"--db", "--trust-db", "--json", "--markdown", "--quiet", "--color"}) {
    common.push_back(description_of(*program.get_option(name)));
    common.back().is_common = true;
  }
  return description_of(program, common);
}

std::pair<CommandDescription, std::string> command_of(const CLI::App& program,
                                                      const std::vector<std::string>& words) {
  CommandDescription command = description_of(program);
  std::string path = program.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> names;
    for (const CommandDescription& sub : command.commands) names.push_back(sub.name);
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) {
      throw Error(ErrorCode::usage, fmt::format("there is no command '{} {}'{}", path, word,
                                                did_you_mean(word, names)));
    }
    path += " " + word;
    command = CommandDescription(command.commands[static_cast<std::size_t>(found - names.begin())]);
  }
  return {std::move(command), std::move(path)};
}

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
