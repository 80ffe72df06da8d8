// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/reproduction.hpp"

#include "tuner/core/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

namespace tuner::cli {
namespace {

/// Options with a value that a run and a bench have in common.
constexpr std::array<std::string_view, 5> kKept = {"--space", "--backend", "--device",
                                                   "--compile-timeout", "--launch-timeout"};

/// Those options of a command with their values, in order, as one word and one word.
std::vector<std::string> kept_options(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string option = words[i].substr(0, equals);
    if (std::ranges::find(kKept, option) == kKept.end()) continue;
    if (equals != std::string::npos) {
      kept.insert(kept.end(), {option, words[i].substr(equals + 1)});
    } else if (i + 1 < words.size()) {
      kept.insert(kept.end(), {option, words[++i]});
    }
  }
  return kept;
}

}  // namespace

std::string bench_command(const store::RunRecord& run, const store::TrialRecord& trial) {
  const std::vector<std::string> kept = kept_options(shell_words(run.command));
  if (std::ranges::find(kept, "--space") == kept.end()) return "";
  std::vector<std::string> words = {"tune", "bench"};
  words.insert(words.end(), kept.begin(), kept.end());
  words.insert(words.end(), {"--kernel", run.kernel, "--size", trial.problem, "--seed",
                             fmt::format("{}", trial.check_seed), "--config", trial.config_json});
  return shell_line(words);
}

std::string space_file_of(const store::RunRecord& run) {
  const std::vector<std::string> kept = kept_options(shell_words(run.command));
  const auto option = std::ranges::find(kept, "--space");
  return option == kept.end() ? "" : *std::next(option);
}

}  // namespace tuner::cli
