// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command_tree.hpp"

#include "tuner/search/strategy.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

namespace tuner::cli {

std::vector<std::string> choices(const OptionDescription& option) {
  std::vector<std::string> words;
  if (option.value.starts_with("STRATEGY")) {
    for (const auto& name : search::strategy_names()) words.emplace_back(name);
  } else if (option.value.find('|') != std::string::npos) {
    for (const auto& word : std::views::split(option.value, '|')) {
      words.emplace_back(word.begin(), word.end());
    }
  }
  return words;
}

bool takes_path(const OptionDescription& option) {
  constexpr std::array<std::string_view, 4> kPaths = {"FILE", "DIR", "PATH", "DB"};
  return std::ranges::find(kPaths, option.value) != kPaths.end();
}

}  // namespace tuner::cli
