// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/parse_error.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace tuner::cli {
namespace {

/// The commands that may stand after those already given.
std::vector<std::string> known_commands(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  if (!given.empty()) return known_commands(*given.front());
  std::vector<std::string> words;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) words.push_back(sub->get_name());
  return words;
}

/// The options of the program and of all its commands.
std::vector<const CLI::Option*> all_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    const std::vector<const CLI::Option*> of_sub = all_options(*sub);
    options.insert(options.end(), of_sub.begin(), of_sub.end());
  }
  return options;
}

std::vector<std::string> known_options(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : all_options(app)) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

[[noreturn]] void fail_mismatch(const CLI::App& app, const CLI::ArgumentMismatch& error) {
  for (const CLI::Option* option : all_options(app)) {
    const bool once = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
                      option->get_expected_max() == 1;
    if (!once || option->count() < 2) continue;
    throw Error(ErrorCode::usage, fmt::format("{}: given {} times; it takes one value",
                                              option->get_name(), option->count()));
  }
  const std::string what = error.what();
  throw Error(ErrorCode::usage, what.substr(0, what.find(':')) + ": a value is missing");
}

}  // namespace

void fail_parse(const CLI::App& app, const CLI::ParseError& error) {
  for (const std::string& word : app.remaining(true)) {
    const bool option = word.starts_with('-');
    const std::string name = word.substr(0, word.find('='));
    const auto meant = closest(name, option ? known_options(app) : known_commands(app));
    if (option && meant == name) {
      throw Error(
          ErrorCode::usage,
          fmt::format("option '{}' is one of another command; `tune --help` lists them", name));
    }
    throw Error(ErrorCode::usage,
                fmt::format("{} '{}' is not known{}; `tune --help` lists what is",
                            option ? "option" : "command", option ? name : word,
                            meant ? fmt::format(" (did you mean '{}'?)", *meant) : ""));
  }
  if (const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    fail_mismatch(app, *mismatch);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::vector<std::string> actions = known_commands(app);
    if (!actions.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("one of these is required: {}", fmt::join(actions, ", ")));
    }
  }
  throw Error(ErrorCode::usage, error.what());
}

}  // namespace tuner::cli
