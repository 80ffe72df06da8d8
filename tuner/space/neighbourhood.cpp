// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/group.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace tuner::space {
namespace {

/// One parameter's new choice.
struct Move {
  std::size_t parameter = 0;
  std::uint32_t choice = 0;

  auto operator<=>(const Move&) const = default;
};

/// Draws pairs of a parameter and another choice for it, all equally likely.
class MoveDraw {
 public:
  MoveDraw(const SpaceDefinition& definition, const Config& config)
      : parameters_(definition.parameters), config_(config) {
    for (const Parameter& parameter : parameters_) {
      total_ += parameter.values.size() - 1;
      if (parameter.values.size() > 1) ++varying_;
    }
  }

  std::size_t varying_parameters() const { return varying_; }

  Move operator()(std::mt19937_64& random) const {
    std::size_t rest = std::uniform_int_distribution<std::size_t>(0, total_ - 1)(random);
    std::size_t parameter = 0;
    while (rest >= parameters_[parameter].values.size() - 1) {
      rest -= parameters_[parameter].values.size() - 1;
      ++parameter;
    }
    // The present choice is skipped.
    const auto choice = static_cast<std::uint32_t>(rest);
    return {parameter, choice < config_.choice[parameter] ? choice : choice + 1};
  }

 private:
  const std::vector<Parameter>& parameters_;
  const Config& config_;
  std::size_t total_ = 0;
  std::size_t varying_ = 0;
};

/// Visits the choices at a node that lead to a path which has the choices of `config` below: all
/// other ones, or the nearest lower and the nearest higher one.
template <class Visit>
void visit_choices(const Diagram& diagram, Diagram::Node node, std::size_t level,
                   const Config& config, Neighbourhood kind, Visit visit) {
  const std::size_t parameter = diagram.parameters()[level];
  const std::uint32_t own = config.choice[parameter];
  const auto leads_on = [&](const Diagram::Edge& edge) {
    return diagram.leads_on(edge.child, level + 1, config);
  };
  const std::span<const Diagram::Edge> edges = diagram.edges(node);
  const auto place = std::ranges::lower_bound(edges, own, {}, &Diagram::Edge::choice);
  for (const Diagram::Edge& edge : std::ranges::subrange(edges.begin(), place) |
                                       std::views::reverse | std::views::filter(leads_on)) {
    visit(Move{parameter, edge.choice});
    if (kind == Neighbourhood::adjacent) break;
  }
  for (const Diagram::Edge& edge :
       std::ranges::subrange(place, edges.end()) | std::views::filter(leads_on)) {
    if (edge.choice == own) continue;
    visit(Move{parameter, edge.choice});
    if (kind == Neighbourhood::adjacent) break;
  }
}

template <class Visit>
void visit_moves(const Diagram& diagram, const Config& config, Neighbourhood kind, Visit visit) {
  Diagram::Node node = diagram.root();
  for (std::size_t level = 0; level < diagram.parameters().size(); ++level) {
    visit_choices(diagram, node, level, config, kind, visit);
    const Diagram::Edge* const own = diagram.edge(node, config.choice[diagram.parameters()[level]]);
    if (own == nullptr) return;  // what is wrong here, no change further down fixes
    node = own->child;
  }
}

}  // namespace

/// Visits every valid configuration in which a given number of parameters differ.
template <class Visit>
class Space::AtDistance {
 public:
  AtDistance(const std::vector<Group>& groups, Config config, Visit visit)
      : groups_(groups), original_(config), config_(std::move(config)), visit_(visit) {}

  void run(std::size_t distance) { enter(0, distance); }

 private:
  void enter(std::size_t group, std::size_t distance) {
    if (group < groups_.size()) {
      walk(group, 0, groups_[group].diagram.root(), distance);
    } else if (distance == 0) {
      visit_(std::as_const(config_));
    }
  }

  void walk(std::size_t group, std::size_t level, Diagram::Node node, std::size_t distance) {
    const Diagram& diagram = groups_[group].diagram;
    if (level == diagram.parameters().size()) return enter(group + 1, distance);
    const std::size_t parameter = diagram.parameters()[level];
    const std::uint32_t own = original_.choice[parameter];
    if (distance == 0) {
      if (const auto* edge = diagram.edge(node, own)) walk(group, level + 1, edge->child, 0);
      return;
    }
    for (const Diagram::Edge& edge : diagram.edges(node)) {
      config_.choice[parameter] = edge.choice;
      walk(group, level + 1, edge.child, edge.choice == own ? distance : distance - 1);
    }
    config_.choice[parameter] = own;
  }

  const std::vector<Group>& groups_;
  const Config original_;
  Config config_;
  Visit visit_;
};

namespace {

/// The moves that keep a configuration valid, in order of parameter and choice. A configuration
/// outside the space may be one move away from it.
template <class Groups>
std::vector<Move> moves(const Groups& groups, const Config& config, Neighbourhood kind) {
  const auto broken = [&](const auto& group) { return !group.diagram.find(config); };
  const auto first_broken = std::ranges::find_if(groups, broken);
  std::vector<Move> result;
  const auto keep = [&](Move move) { result.push_back(move); };
  if (first_broken == groups.end()) {
    for (const auto& group : groups) visit_moves(group.diagram, config, kind, keep);
  } else if (std::none_of(first_broken + 1, groups.end(), broken)) {
    visit_moves(first_broken->diagram, config, kind, keep);
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace

std::vector<Config> Space::neighbours(const Config& config, Neighbourhood kind) const {
  std::vector<Config> result;
  if (size_ == 0 || config.choice.size() != definition().parameters.size()) return result;
  if (kind == Neighbourhood::hamming2) {
    AtDistance(groups_, config, [&](const Config& found) { result.push_back(found); }).run(2);
    std::ranges::sort(result);
    return result;
  }
  for (const Move& move : moves(groups_, config, kind)) {
    result.push_back(config);
    result.back().choice[move.parameter] = move.choice;
  }
  return result;
}

std::optional<Config> Space::draw_neighbour(const Config& config, std::size_t distance,
                                            std::mt19937_64& random) const {
  // What the draws hit is uniform, and so is what the walk chooses when they hit nothing.
  constexpr int kMostTries = 64;
  const MoveDraw draw(definition(), config);
  if (draw.varying_parameters() < distance) return std::nullopt;
  Config candidate = config;
  for (int i = 0; i < kMostTries; ++i) {
    const Move first = draw(random);
    const Move second = distance == 2 ? draw(random) : first;
    if (distance == 2 && first.parameter == second.parameter) continue;
    candidate.choice[first.parameter] = first.choice;
    candidate.choice[second.parameter] = second.choice;
    if (position(candidate)) return candidate;
    candidate.choice[first.parameter] = config.choice[first.parameter];
    candidate.choice[second.parameter] = config.choice[second.parameter];
  }
  std::optional<Config> chosen;
  std::uint64_t seen = 0;
  AtDistance(groups_, config, [&](const Config& found) {
    if (std::uniform_int_distribution<std::uint64_t>(0, seen++)(random) == 0) chosen = found;
  }).run(distance);
  return chosen;
}

std::optional<Config> Space::random_neighbour(const Config& config, Neighbourhood kind,
                                              std::mt19937_64& random) const {
  if (size_ == 0 || config.choice.size() != definition().parameters.size()) return std::nullopt;
  if (kind == Neighbourhood::hamming) return draw_neighbour(config, 1, random);
  if (kind == Neighbourhood::hamming2) return draw_neighbour(config, 2, random);
  const std::vector<Move> all = moves(groups_, config, kind);
  if (all.empty()) return std::nullopt;
  const Move move = all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  Config result = config;
  result.choice[move.parameter] = move.choice;
  return result;
}

}  // namespace tuner::space
