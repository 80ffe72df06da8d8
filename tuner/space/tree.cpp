// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tuner {

Tree::Tree(std::vector<std::size_t> parameters)
    : parameters_(std::move(parameters)), levels_(parameters_.size()) {}

void Tree::open(std::size_t level, std::size_t choice) {
  levels_[level].choices.push_back(static_cast<std::uint16_t>(choice));
  if (level + 1 == levels_.size()) return;
  const std::size_t child = levels_[level + 1].choices.size();
  levels_[level].first_child.push_back(static_cast<std::uint32_t>(child));
}

void Tree::close(std::size_t level) {
  if (level + 1 == levels_.size()) return;
  Level& nodes = levels_[level];
  if (nodes.first_child.back() == levels_[level + 1].choices.size()) {
    nodes.choices.pop_back();
    nodes.first_child.pop_back();
  }
}

Config Tree::place(std::uint64_t leaf, Config config) const {
  std::uint64_t node = leaf;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (level + 1 < levels_.size()) {
      const auto& first = levels_[level].first_child;
      const auto after = std::upper_bound(first.begin(), first.end(), node);
      node = static_cast<std::uint64_t>(after - first.begin()) - 1;
    }
    config.choice[parameters_[level]] = levels_[level].choices[node];
  }
  return config;
}

std::optional<std::uint64_t> Tree::find(const Config& config) const {
  std::size_t first = 0;
  std::size_t last = levels_.front().choices.size();
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const auto& choices = levels_[level].choices;
    const std::uint32_t wanted = config.choice[parameters_[level]];
    const auto begin = choices.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = choices.begin() + static_cast<std::ptrdiff_t>(last);
    const auto found = std::lower_bound(begin, end, wanted);
    if (found == end || *found != wanted) return std::nullopt;
    const auto node = static_cast<std::size_t>(found - choices.begin());
    if (level + 1 == levels_.size()) return node;
    const auto& child = levels_[level].first_child;
    first = child[node];
    last = node + 1 < child.size() ? child[node + 1] : levels_[level + 1].choices.size();
  }
  return std::nullopt;
}

Tree tree_of(std::span<const Config> configs) {
  std::vector<std::size_t> parameters(configs.front().choice.size());
  std::iota(parameters.begin(), parameters.end(), std::size_t{0});
  Tree tree(std::move(parameters));
  const Config* before = nullptr;
  for (const Config& config : configs) {
    // What it shares with the one before is open already.
    std::size_t level = 0;
    while (before != nullptr && config.choice[level] == before->choice[level]) ++level;
    for (; level < config.choice.size(); ++level) tree.open(level, config.choice[level]);
    before = &config;
  }
  return tree;
}

}  // namespace tuner
