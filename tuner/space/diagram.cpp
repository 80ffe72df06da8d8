// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/diagram.hpp"

#include "tuner/core/error.hpp"

#include <numeric>
#include <utility>

namespace tuner::space {

void Diagram::place(std::uint64_t path, Config& config) const {
  Node node = root_;
  for (const std::size_t parameter : parameters_) {
    const std::span<const Edge> all = edges(node);
    const auto after = std::ranges::upper_bound(all, path, {}, &Edge::before);
    const Edge& next = *(after - 1);
    config.choice[parameter] = next.choice;
    path -= next.before;
    node = next.child;
  }
}

bool Diagram::leads_on(Node node, std::size_t level, const Config& config) const {
  for (; level < parameters_.size(); ++level) {
    const Edge* const next = edge(node, config.choice[parameters_[level]]);
    if (next == nullptr) return false;
    node = next->child;
  }
  return true;
}

DiagramBuilder::DiagramBuilder(std::vector<std::size_t> parameters) {
  diagram_.parameters_ = std::move(parameters);
  diagram_.starts_ = {0, 0};  // the end
  paths_ = {1};
}

Diagram::Node DiagramBuilder::add(std::span<const Edge> edges) {
  if (edges.empty()) return kNone;
  std::uint64_t hash = edges.size();
  for (const Edge& edge : edges) {
    hash = mixed(hash, (std::uint64_t{edge.child} << 16) | edge.choice);
  }
  const auto known = index_.find(hash, [&](Node node) { return has_edges(node, edges); });
  if (known) return *known;
  const auto node = static_cast<Node>(paths_.size());
  std::uint64_t paths = 0;
  for (const Edge& edge : edges) {
    diagram_.edges_.push_back({paths, edge.child, edge.choice});
    if (__builtin_add_overflow(paths, paths_[edge.child], &paths)) {
      throw Error(ErrorCode::usage,
                  "the space has more than 2^64 configurations; give its parameters fewer values");
    }
  }
  diagram_.starts_.push_back(static_cast<std::uint32_t>(diagram_.edges_.size()));
  paths_.push_back(paths);
  index_.insert(hash, node);
  return node;
}

bool DiagramBuilder::has_edges(Node node, std::span<const Edge> edges) const {
  return std::ranges::equal(diagram_.edges(node), edges, [](const Edge& a, const Edge& b) {
    return a.child == b.child && a.choice == b.choice;
  });
}

Diagram DiagramBuilder::finish(Node root) && {
  diagram_.edges_.shrink_to_fit();
  diagram_.starts_.shrink_to_fit();
  if (root == kNone) {
    diagram_.root_ = kEnd;  // which has no edges: nothing is found
    diagram_.size_ = 0;
  } else {
    diagram_.root_ = root;
    diagram_.size_ = paths_[root];
  }
  return std::move(diagram_);
}

namespace {

/// The node of configurations that agree on all parameters before `level`.
Diagram::Node add_suffixes(DiagramBuilder& builder, std::span<const Config> configs,
                           std::size_t level) {
  if (level == configs.front().choice.size()) return DiagramBuilder::kEnd;
  std::vector<Diagram::Edge> edges;
  while (!configs.empty()) {
    const std::uint32_t choice = configs.front().choice[level];
    const auto other = std::ranges::find_if(
        configs, [&](const Config& config) { return config.choice[level] != choice; });
    const auto same = static_cast<std::size_t>(other - configs.begin());
    edges.push_back({.child = add_suffixes(builder, configs.first(same), level + 1),
                     .choice = static_cast<std::uint16_t>(choice)});
    configs = configs.subspan(same);
  }
  return builder.add(edges);
}

}  // namespace

Diagram diagram_of(std::span<const Config> configs) {
  std::vector<std::size_t> parameters(configs.front().choice.size());
  std::iota(parameters.begin(), parameters.end(), std::size_t{0});
  DiagramBuilder builder(std::move(parameters));
  const Diagram::Node root = add_suffixes(builder, configs, 0);
  return std::move(builder).finish(root);
}

}  // namespace tuner::space
