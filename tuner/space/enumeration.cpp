// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/enumeration.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/hash_index.hpp"
#include "tuner/space/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace tuner::space {
namespace {

/// The nodes found so far at one level, by the state that determines their subtree.
class Memory {
 public:
  using Key = std::vector<std::int64_t>;

  std::optional<Diagram::Node> find(const Key& key) {
    ++searches_;
    const auto found = index_.find(hash(key), [&](std::uint32_t entry) {
      const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(starts_[entry]);
      const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(starts_[entry + 1]);
      return std::equal(begin, end, key.begin(), key.end());
    });
    if (!found) return std::nullopt;
    ++hits_;
    return nodes_[*found];
  }

  void keep(const Key& key, Diagram::Node node) {
    if (keys_.size() + key.size() > kMostKept) return;
    index_.insert(hash(key), static_cast<std::uint32_t>(nodes_.size()));
    keys_.insert(keys_.end(), key.begin(), key.end());
    starts_.push_back(keys_.size());
    nodes_.push_back(node);
  }

  /// Whether remembering has paid so far, where it had the chance to.
  bool pays() const { return searches_ < kTrial || hits_ * 16 > searches_; }

 private:
  static constexpr std::uint64_t kTrial = 1 << 14;
  static constexpr std::size_t kMostKept = std::size_t{1} << 25;  // numbers

  static std::uint64_t hash(const Key& key) {
    std::uint64_t result = key.size();
    for (const std::int64_t number : key)
      result = mixed(result, static_cast<std::uint64_t>(number));
    return result;
  }

  std::vector<std::int64_t> keys_;
  std::vector<std::size_t> starts_{0};
  std::vector<Diagram::Node> nodes_;
  HashIndex index_;
  std::uint64_t searches_ = 0;
  std::uint64_t hits_ = 0;
};

/// Binds one parameter after the other, depth first. The subtree of a partial configuration
/// depends only on the state that the rules keep of it, so it is searched once for each state.
class Enumerator {
 public:
  Enumerator(const Rules& rules, Plan plan, EnumerationLimits& limits)
      : rules_(rules),
        limits_(limits),
        plan_(std::move(plan)),
        states_(plan_.states),
        values_(plan_.values),
        intervals_(plan_.ranges),
        nodes_(plan_.levels.size() + 1),
        scratch_(plan_.levels.size()),
        builder_(plan_.order) {}

  Diagram run() && {
    const Diagram::Node root = search(0);
    return std::move(builder_).finish(root);
  }

 private:
  /// What one level needs while it searches.
  struct Scratch {
    Memory memory;
    Memory::Key key;
    std::vector<Diagram::Edge> edges;
  };

  /// The node of the partial configuration bound now.
  Diagram::Node find(std::size_t depth) {
    if (depth == plan_.levels.size()) return DiagramBuilder::kEnd;
    Scratch& scratch = scratch_[depth];
    if (!scratch.memory.pays()) return search(depth);
    remember(depth, scratch.key);
    if (const auto known = scratch.memory.find(scratch.key)) return *known;
    const Diagram::Node node = search(depth);
    scratch.memory.keep(scratch.key, node);
    return node;
  }

  Diagram::Node search(std::size_t depth) {
    const Plan::Level& level = plan_.levels[depth];
    std::vector<Diagram::Edge>& edges = scratch_[depth].edges;
    edges.clear();
    if (begins_part(depth)) nodes_[depth] = level.known->root();
    const std::uint64_t operations = level.numbers.size() * operations_of_choice(level);
    if (operations > limits_.operations) refuse("finding its valid combinations takes too long");
    limits_.operations -= operations;
    if (level.known != nullptr) {
      for (const Diagram::Edge& edge : level.known->edges(nodes_[depth])) {
        nodes_[depth + 1] = edge.child;
        follow(level, depth, edge.choice);
      }
    } else {
      for (std::size_t choice = 0; choice < level.numbers.size(); ++choice) {
        follow(level, depth, choice);
      }
    }
    const Diagram::Node node = builder_.add(edges);
    if (builder_.edge_count() > limits_.edges)
      refuse("its valid combinations need too much memory");
    return node;
  }

  /// Adds the edge of a choice to the level's, unless it leads nowhere.
  void follow(const Plan::Level& level, std::size_t depth, std::size_t choice) {
    if (!bind(level, choice)) return;
    const Diagram::Node child = find(depth + 1);
    if (child == DiagramBuilder::kNone) return;
    scratch_[depth].edges.push_back({.child = child, .choice = static_cast<std::uint16_t>(choice)});
  }

  /// Whether a level is the first one of a part that is known.
  bool begins_part(std::size_t depth) const {
    const Diagram* const known = plan_.levels[depth].known;
    return known != nullptr && (depth == 0 || plan_.levels[depth - 1].known != known);
  }

  static std::size_t operations_of_choice(const Plan::Level& level) {
    return 1 + level.readings.size() + level.computed.size() + level.decided.size() +
           level.forecasts.size() + level.narrowed.size();
  }

  /// Writes what the rules remember of the known parameters and still need. The states say which
  /// values follow, and the length whether denominators do.
  void remember(std::size_t depth, Memory::Key& key) const {
    const Plan::Level& level = plan_.levels[depth];
    key.clear();
    if (level.known != nullptr && !begins_part(depth)) key.push_back(nodes_[depth]);
    for (const std::size_t place : level.states) key.push_back(states_[place]);
    for (const Plan::Reads& reads : level.reads) key.push_back(states_[reads.place]);
    bool all_whole = true;
    for_each_read(level, [&](Rational value) {
      key.push_back(value.numerator);
      all_whole &= value.denominator == 1;
    });
    if (all_whole) return;
    for_each_read(level, [&](Rational value) { key.push_back(value.denominator); });
  }

  template <class Visit>
  void for_each_read(const Plan::Level& level, Visit visit) const {
    for (const Plan::Reads& reads : level.reads) {
      if (states_[reads.place] != Plan::kUndecided) continue;
      for (const TermId id : reads.values) visit(values_[id]);
    }
  }

  /// Gives a parameter a value; false when some rule cannot hold any more.
  bool bind(const Plan::Level& level, std::size_t choice) {
    for (const Plan::Reading& reading : level.readings) {
      const std::size_t row = states_[reading.from] * level.numbers.size();
      const Automaton::State state = (*reading.transitions)[row + choice];
      if (state == Automaton::kBroken) return false;
      states_[reading.to] = state;
    }
    if (level.term) values_[*level.term] = {level.numbers[choice], 1};
    for (const Computation& computation : level.computed) {
      values_[computation.result] = evaluate(computation, values_);
    }
    for (const TermId condition : level.decided) {
      const Rational value = values_[condition];
      if (value.denominator != 1 || value.numerator == 0) return false;
    }
    return forecast(level);
  }

  /// Whether all conditions of which part is known can still be satisfied, as far as intervals
  /// tell.
  bool forecast(const Plan::Level& level) {
    bool is_open = false;
    for (const Plan::Forecast& forecast : level.forecasts) {
      states_[forecast.to] = states_[forecast.from];
      is_open |= states_[forecast.from] == Plan::kUndecided;
    }
    if (!is_open) return true;
    for (const Plan::Narrowing& each : level.narrowed) intervals_[each.result] = bound_on(each);
    return std::ranges::all_of(level.forecasts, [this](const Plan::Forecast& forecast) {
      const Interval outcome = intervals_[forecast.range];
      if (outcome.is_true()) states_[forecast.to] = Automaton::kSatisfied;
      return !outcome.is_false();
    });
  }

  Interval bound_on(const Plan::Narrowing& narrowing) const {
    std::array<Interval, 3> operands;
    for (std::size_t i = 0; i < narrowing.count; ++i) {
      const auto [is_known, index] = narrowing.operands[i];
      operands[i] = is_known ? around(values_[index]) : intervals_[index];
    }
    return bound(narrowing.kind, narrowing.operation, std::span(operands).first(narrowing.count));
  }

  [[noreturn]] void refuse(std::string_view why) const {
    std::vector<std::string_view> names;
    for (const std::size_t p : plan_.order) names.push_back(rules_.definition().parameters[p].name);
    throw Error(ErrorCode::usage,
                fmt::format("the space is too large: the constraints tie {} together, and {}. Give "
                            "these parameters fewer values or constrain them more",
                            fmt::join(names, ", "), why));
  }

  const Rules& rules_;
  EnumerationLimits& limits_;
  Plan plan_;
  std::vector<Automaton::State> states_;  // by place
  std::vector<Rational> values_;          // by term
  std::vector<Interval> intervals_;       // by place
  std::vector<Diagram::Node> nodes_;      // by level, of the part that is known there
  std::vector<Scratch> scratch_;          // by level
  DiagramBuilder builder_;
};

/// Joins the components that a rule ties together.
void tie(std::vector<Component>& all, const Rule& rule) {
  const auto untouched = [&](const Component& c) { return (c.parameters & rule.parameters) == 0; };
  const auto tied = std::stable_partition(all.begin(), all.end(), untouched);
  Component merged;
  for (auto component = tied; component != all.end(); ++component) {
    merged.parameters |= component->parameters;
    merged.rules.insert(merged.rules.end(), component->rules.begin(), component->rules.end());
  }
  merged.rules.push_back(&rule);
  all.erase(tied, all.end());
  all.push_back(std::move(merged));
}

}  // namespace

std::vector<Component> components(const Rules& rules, std::size_t last_stage) {
  std::vector<Component> result;
  for (std::size_t i = 0; i < rules.definition().parameters.size(); ++i) {
    result.push_back({parameter_bit(i), {}});
  }
  for (const Rule& rule : rules.all()) {
    if (rule.stage <= last_stage && rule.parameters != 0) tie(result, rule);
  }
  return result;
}

DividedComponent divided(const Component& component) {
  DividedComponent result{.parts = {}, .rest = {component.parameters, {}}};
  for (ParameterSet left = component.parameters; left != 0; left &= left - 1) {
    result.parts.push_back({left & -left, {}});
  }
  for (const Rule* rule : component.rules) {
    if (rule->reads_extents) {
      result.rest.rules.push_back(rule);
    } else {
      tie(result.parts, *rule);
    }
  }
  return result;
}

Diagram enumerate(const Rules& rules, const Component& component, EnumerationLimits& limits) {
  return Enumerator(rules, make_plan(rules, component), limits).run();
}

Diagram narrowed(const Rules& rules, const Component& component,
                 std::span<const Diagram* const> parts, EnumerationLimits& limits) {
  return Enumerator(rules, make_plan(rules, component, parts), limits).run();
}

}  // namespace tuner::space
