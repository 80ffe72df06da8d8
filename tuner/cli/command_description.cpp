// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command_description.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>

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

}  // namespace tuner::cli
