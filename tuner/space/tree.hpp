// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tuner {

/// The valid partial configurations of parameters that constraints tie together, as a tree with one
/// level a parameter: every path from the root to a leaf is one of them. A level is two arrays,
/// so a leaf costs two bytes, and walking in either direction is a binary search a level.
class Tree {
 public:
  /// An empty tree over parameters in the order of its levels.
  explicit Tree(std::vector<std::size_t> parameters);

  /// Building, depth first: opens a node under the node last opened one level above. Choices
  /// under one node must come in ascending order.
  void open(std::size_t level, std::size_t choice);
  /// Ends the node last opened on this level; a node without leaves is removed.
  void close(std::size_t level);

  [[nodiscard]] const std::vector<std::size_t>& parameters() const { return parameters_; }
  /// Number of leaves.
  [[nodiscard]] std::uint64_t size() const { return levels_.back().choices.size(); }
  /// `config` with this tree's parameters set as on the path to a leaf.
  [[nodiscard]] Config place(std::uint64_t leaf, Config config) const;
  /// The leaf whose path has the choices of `config`.
  [[nodiscard]] std::optional<std::uint64_t> find(const Config& config) const;

 private:
  struct Level {
    std::vector<std::uint16_t> choices;      // of all nodes of the level, from left to right
    std::vector<std::uint32_t> first_child;  // index into the next level; empty on the last
  };
  std::vector<std::size_t> parameters_;
  std::vector<Level> levels_;
};

/// The tree of these configurations, at least one, which are sorted and differ.
[[nodiscard]] Tree tree_of(std::span<const Config> configs);

}  // namespace tuner
