// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/hash_index.hpp"
#include "tuner/space/space.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tuner::space {

/// The valid partial configurations of parameters that constraints tie together, as a decision
/// diagram with one level a parameter: every path from the root to the end is one of them, and
/// equal subtrees are kept once. An edge knows how many paths go through the edges before it, so
/// that a path's number and the path of a number cost one search among a node's edges a level.
class Diagram {
 public:
  using Node = std::uint32_t;

  /// What follows one choice.
  struct Edge {
    std::uint64_t before = 0;  ///< paths through the node's earlier edges
    Node child = 0;
    std::uint16_t choice = 0;
  };

  [[nodiscard]] const std::vector<std::size_t>& parameters() const { return parameters_; }
  /// Number of paths.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// How much is kept.
  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }

  /// Sets this diagram's parameters in `config` as on a path.
  void place(std::uint64_t path, Config& config) const;
  /// The path that has the choices of `config`.
  [[nodiscard]] std::optional<std::uint64_t> find(const Config& config) const;

  /// For walks: the first node, a node's edges in ascending order of choice, and the edge of one
  /// choice (null when it leads nowhere). A node at the end has no edges.
  [[nodiscard]] Node root() const { return root_; }
  [[nodiscard]] std::span<const Edge> edges(Node node) const {
    return {edges_.data() + starts_[node], edges_.data() + starts_[node + 1]};
  }
  [[nodiscard]] const Edge* edge(Node node, std::uint32_t choice) const;
  /// Whether the choices of `config` from `level` on lead from a node there to the end.
  [[nodiscard]] bool leads_on(Node node, std::size_t level, const Config& config) const;

 private:
  friend class DiagramBuilder;
  std::vector<std::size_t> parameters_;  // in the order of the levels
  std::vector<std::uint32_t> starts_;    // into edges_, of every node, and the end
  std::vector<Edge> edges_;
  Node root_ = 0;
  std::uint64_t size_ = 0;
};

/// Makes a diagram from its end to its root.
class DiagramBuilder {
 public:
  using Node = Diagram::Node;
  using Edge = Diagram::Edge;

  /// The end of every path.
  static constexpr Node kEnd = 0;
  /// The node from which no path leads to the end; no edge may lead there.
  static constexpr Node kNone = 0xffffffff;

  /// `parameters` in the order of the levels.
  explicit DiagramBuilder(std::vector<std::size_t> parameters);

  /// The node with these edges, in ascending order of choice; the one there is when there is one,
  /// kNone when there are no edges. `before` is filled in here. Throws Error(usage) when more than
  /// 2^64 paths start at it.
  [[nodiscard]] Node add(std::span<const Edge> edges);
  [[nodiscard]] std::size_t edge_count() const { return diagram_.edges_.size(); }
  /// The diagram of the paths that start at `root`.
  [[nodiscard]] Diagram finish(Node root) &&;

 private:
  [[nodiscard]] bool has_edges(Node node, std::span<const Edge> edges) const;

  Diagram diagram_;
  std::vector<std::uint64_t> paths_;  // from each node
  HashIndex index_;
};

/// The diagram of these configurations, at least one, which are sorted and differ.
[[nodiscard]] Diagram diagram_of(std::span<const Config> configs);

inline const Diagram::Edge* Diagram::edge(Node node, std::uint32_t choice) const {
  const std::span<const Edge> all = edges(node);
  // Where few choices are missing, the edge is near the place that the choice itself names.
  if (choice < all.size() && all[choice].choice == choice) return &all[choice];
  const auto found = std::ranges::lower_bound(all, choice, {}, &Edge::choice);
  return found != all.end() && found->choice == choice ? &*found : nullptr;
}

inline std::optional<std::uint64_t> Diagram::find(const Config& config) const {
  std::uint64_t path = 0;
  Node node = root_;
  for (const std::size_t parameter : parameters_) {
    const Edge* const next = edge(node, config.choice[parameter]);
    if (next == nullptr) return std::nullopt;
    path += next->before;
    node = next->child;
  }
  return path;
}

}  // namespace tuner::space
