// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"

#include "tuner/cli/command_description.hpp"
#include "tuner/cli/command_options.hpp"
#include "tuner/cli/completion.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/version.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/core/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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

/// Throws Error(usage) that says in this program's words why a command line could not be read, with
/// the word that was probably meant.
[[noreturn]] void fail_parse(const CLI::App& app, const CLI::ParseError& error) {
  for (const std::string& word : app.remaining(true)) {
    const bool option = word.starts_with('-');
    const std::string name = word.substr(0, word.find('='));
    const auto meant = closest(name, option ? known_options(app) : known_commands(app));
    if (option && meant == name) {
      throw Error(
          ErrorCode::usage,
          fmt::format("option '{}' is one of another command; `tune --help` lists them", name));
    }
    if (!option && known_commands(app).empty()) {
      throw Error(
          ErrorCode::usage,
          fmt::format(
              "'{}' is one argument too many{}; `--help` lists this command's options", word,
              word.find('=') != std::string::npos ? ": commas join values, such as A=1,B=2" : ""));
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
    throw Error(ErrorCode::usage,
                fmt::format("{}; `--help` lists what this command takes", error.what()));
  }
  throw Error(ErrorCode::usage, error.what());
}

int help(const CLI::App& app, const CommonOptions& common, const std::vector<std::string>& words) {
  const auto [command, path] = command_of(app, words);
  const Output output(common);
  output.print("{}", help_text(command, path, output.terminal()));
  return 0;
}

/// The words of the commands that were given, with `--help` behind them.
std::vector<std::string> given_commands(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words.push_back(at->get_name());
  }
  return words;
}

/// Commands that describe the command line itself.
void add_descriptions(CLI::App& app, Arguments& arguments) {
  CLI::App* completion = add_command(
      app, arguments, "completion", "Print the completion script for a shell", [&app, &arguments] {
        const std::string_view script = completion_script(arguments.shell);
        fmt::print("{}", arguments.line.empty()
                             ? script
                             : completion_lines(completed_words(description_of(app),
                                                                arguments.common, arguments.line),
                                                arguments.shell));
        return 0;
      });
  completion->add_option("shell", arguments.shell, "The shell")
      ->type_name("bash|zsh|fish")
      ->required();
  completion->add_option("line", arguments.line, "Print what this line may go on with, after --")
      ->type_name("LINE");
  write_no_document(*completion, arguments, "it writes a script");
  CLI::App* help_of = add_command(app, arguments, "help", "Describe a command", [&app, &arguments] {
    return help(app, arguments.common, arguments.topic);
  });
  help_of->add_option("command", arguments.topic, "The command, such as: space check")
      ->type_name("COMMAND");
  write_no_document(*help_of, arguments, "it writes text");
  CLI::App* man = add_command(app, arguments, "man", "Print the manual page, for man -l", [&app] {
    fmt::print("{}", man_page(description_of(app)));
    return 0;
  });
  write_no_document(*man, arguments, "it writes a manual page");
}

void add_common(CLI::App& app, Arguments& arguments) {
  app.fallthrough();  // before the subcommands: they inherit it
  app.add_option("--db", arguments.common.database, "Database; default: $TUNER_DB, then the user's")
      ->type_name("PATH");
  app.add_flag("--trust-db", arguments.common.trust_database,
               "Accept a database that other users can change, or on a network file system");
  app.add_flag("--json", arguments.common.json, "Write one JSON document to stdout");
  app.add_flag("--markdown", arguments.common.markdown, "Write tables as Markdown");
  app.add_flag("-q,--quiet", arguments.common.quiet, "No progress on stderr");
  app.add_option("--color", arguments.color,
                 "Colour results; auto: on a terminal, unless NO_COLOR is set")
      ->capture_default_str()
      ->type_name("auto|always|never");
  app.add_flag("--version", arguments.version, "Print the version and what it was built with");
}

}  // namespace

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Finds, verifies, stores and launches the fastest configuration of a CUDA kernel.",
               "tune");
  add_common(app, arguments);
  add_commands(app, arguments);
  add_descriptions(app, arguments);
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    arguments.common.color = color_choice(arguments.color);
    return help(app, arguments.common, given_commands(app));
  } catch (const CLI::ParseError& error) {
    fail_parse(app, error);
  }
  arguments.common.color = color_choice(arguments.color);
  if (arguments.version) {
    fmt::print("{}", arguments.common.json ? json_text(version_json()) : version_text());
    return 0;
  }
  if (arguments.common.json && !arguments.no_document.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("--json has no effect on `tune {}`: {}",
                            fmt::join(given_commands(app), " "), arguments.no_document));
  }
  std::vector<std::string> words = {"tune"};
  words.insert(words.end(), argv + 1, argv + argc);
  arguments.tune.command_line = shell_line(words);
  arguments.judge.command_line = arguments.portfolio.command_line = arguments.setup.command_line =
      arguments.tune.command_line;
  return arguments.command ? arguments.command() : tune(arguments.common, arguments.tune);
}

}  // namespace tuner::cli
