// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/reproduce.hpp"

#include "tuner/core/shell_words.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tuner::report {
namespace {

/// Options that concern the machine of the run alone: with a value, and without. That of --launch
/// is a program: whoever copies a command from a page must not start one of somebody else's.
constexpr std::array<std::string_view, 6> kOwnValues = {"--db",       "--log",   "--report",
                                                        "--progress", "--color", "--launch"};
constexpr std::array<std::string_view, 6> kOwnFlags = {"--trust-db", "-v",      "--verbose",
                                                       "-q",         "--quiet", "--json"};

bool contains(const auto& options, std::string_view option) {
  return std::ranges::find(options, option) != options.end();
}

}  // namespace

std::string repository_path(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  for (const std::string_view folder : {"/spaces/", "/examples/", "/tests/"}) {
    const std::size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return std::string(path.substr(at + 1));
  }
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string repeatable(std::string_view command) {
  const std::vector<std::string> words = shell_words(command);
  if (words.empty() || words.front() != "tune" || starts_program(words)) return "";
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string option = words[i].substr(0, equals);
    if (contains(kOwnFlags, option)) continue;
    if (contains(kOwnValues, option)) {
      if (equals == words[i].size()) ++i;  // its value is the next word
      continue;
    }
    const bool joined = option.starts_with("--") && equals < words[i].size();
    kept.push_back(joined ? option + "=" + repository_path(words[i].substr(equals + 1))
                          : repository_path(words[i]));
  }
  return shell_line(kept);
}

std::string space_of_command(std::string_view command) {
  constexpr std::string_view kOption = "--space";
  const std::vector<std::string> words = shell_words(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kOption && i + 1 < words.size()) return repository_path(words[i + 1]);
    if (words[i].starts_with("--space=")) {
      return repository_path(words[i].substr(kOption.size() + 1));
    }
  }
  return "";
}

}  // namespace tuner::report
