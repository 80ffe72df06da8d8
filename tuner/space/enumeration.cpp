// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/enumeration.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tuner {
namespace {

constexpr std::uint64_t kMostLeaves = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 32;

/// Binds one parameter after the other, depth first, and checks every rule as soon as its last
/// parameter is bound.
class Enumerator {
 public:
  Enumerator(const Rules& rules, const Component& component)
      : rules_(rules),
        slots_(rules.base()),
        choices_(rules.definition().parameters.size()),
        order_(binding_order(rules.definition(), component.rules, component.parameters)) {
    ParameterSet bound = 0;
    for (const std::size_t parameter : order_) {
      const ParameterSet before = bound;
      bound |= parameter_bit(parameter);
      levels_.push_back(make_level(parameter, component.rules, before, bound));
    }
  }

  const std::vector<std::size_t>& order() const { return order_; }

  /// Calls open(level, choice) and close(level) around everything below each valid choice.
  template <class Visitor>
  void visit(Visitor& visitor, std::size_t depth = 0) {
    Level& level = levels_[depth];
    find_rows(level, depth);
    steps_ += level.numbers.size();
    if (steps_ > kMostSteps) refuse("is too large to enumerate");
    for (std::size_t choice = 0; choice < level.numbers.size(); ++choice) {
      if (!allowed_by_tables(level, choice)) continue;
      choices_[level.parameter] = choice;
      slots_[level.slot] = level.numbers[choice];
      if (!derive(level) || !allowed_by_evaluation(level)) continue;
      visitor.open(depth, choice);
      if (depth + 1 < levels_.size()) {
        visit(visitor, depth + 1);
      } else if (++leaves_ > kMostLeaves) {
        refuse("has more than 2^26 valid combinations");
      }
      visitor.close(depth);
    }
  }

 private:
  /// The entries of a rule's table for the values of one parameter, all others being bound.
  struct Row {
    const Rule* rule;
    std::size_t stride;
    const std::uint8_t* first = nullptr;
  };
  struct Level {
    std::size_t parameter = 0;
    std::size_t slot = 0;
    std::vector<std::int64_t> numbers{};  // of the parameter's values
    std::vector<Row> rows{};
    std::vector<const Derived*> derived{};  // that can be computed from this level on
    std::vector<const Rule*> evaluated{};
  };

  Level make_level(std::size_t index, const std::vector<const Rule*>& rules, ParameterSet before,
                   ParameterSet bound) const {
    const SpaceDefinition& definition = rules_.definition();
    const Parameter& parameter = definition.parameters[index];
    Level level{.parameter = index, .slot = parameter.slot};
    for (const ParameterValue& value : parameter.values) level.numbers.push_back(value.number);
    std::vector<bool> needed(definition.derived.size());
    for (const Rule* rule : rules) {
      if (rule->table.empty()) {
        for (const std::size_t derived : rule->derived) needed[derived] = true;
      }
      if ((rule->parameters & ~bound) != 0 || (rule->parameters & ~before) == 0) continue;
      if (rule->table.empty()) {
        level.evaluated.push_back(rule);
      } else {
        level.rows.push_back({rule, rule->strides[index]});
      }
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const ParameterSet inputs = rules_.parameters_of_derived(i);
      const bool constant = inputs == 0 && before == 0;
      const bool completed = (inputs & ~bound) == 0 && (inputs & ~before) != 0;
      if (needed[i] && (constant || completed)) level.derived.push_back(&definition.derived[i]);
    }
    const auto stricter = [](const Rule* a, const Rule* b) {
      return a->selectivity < b->selectivity;
    };
    std::sort(level.evaluated.begin(), level.evaluated.end(), stricter);
    std::sort(level.rows.begin(), level.rows.end(),
              [&](const Row& a, const Row& b) { return stricter(a.rule, b.rule); });
    return level;
  }

  void find_rows(Level& level, std::size_t depth) const {
    for (Row& row : level.rows) {
      std::size_t offset = 0;
      for (std::size_t i = 0; i < depth; ++i) {
        offset += choices_[order_[i]] * row.rule->strides[order_[i]];
      }
      row.first = row.rule->table.data() + offset;
    }
  }

  static bool allowed_by_tables(const Level& level, std::size_t choice) {
    return std::all_of(level.rows.begin(), level.rows.end(),
                       [&](const Row& row) { return row.first[choice * row.stride] != 0; });
  }

  /// False when a derived value cannot be computed: some rule needs it, and breaks.
  bool derive(const Level& level) {
    for (const Derived* derived : level.derived) {
      const auto value = derived->expression.evaluate(slots_);
      if (!value) return false;
      slots_[derived->slot] = *value;
    }
    return true;
  }

  bool allowed_by_evaluation(const Level& level) const {
    return std::all_of(level.evaluated.begin(), level.evaluated.end(), [&](const Rule* rule) {
      return Rules::holds(*rule, rules_.definition(), slots_);
    });
  }

  [[noreturn]] void refuse(std::string_view why) const {
    std::vector<std::string_view> names;
    for (const std::size_t p : order_) names.push_back(rules_.definition().parameters[p].name);
    throw Error(ErrorCode::usage,
                fmt::format("the space {}: the constraints tie {} together. Give these parameters "
                            "fewer values or constrain them more",
                            why, fmt::join(names, ", ")));
  }

  const Rules& rules_;
  Slots slots_;
  std::vector<std::size_t> choices_;  // by parameter
  std::vector<std::size_t> order_;
  std::vector<Level> levels_;
  std::uint64_t steps_ = 0;
  std::uint64_t leaves_ = 0;
};

struct LeafCounter {
  std::size_t last_level;
  std::uint64_t leaves = 0;

  void open(std::size_t level, std::size_t) {
    if (level == last_level) ++leaves;
  }
  void close(std::size_t) {}
};

}  // namespace

std::vector<Component> components(const Rules& rules, std::size_t last_stage) {
  std::vector<Component> result;
  for (std::size_t i = 0; i < rules.definition().parameters.size(); ++i) {
    result.push_back({parameter_bit(i), {}});
  }
  for (const Rule& rule : rules.all()) {
    if (rule.stage > last_stage || rule.parameters == 0) continue;
    const auto untouched = [&](const Component& c) {
      return (c.parameters & rule.parameters) == 0;
    };
    const auto tied = std::stable_partition(result.begin(), result.end(), untouched);
    Component merged;
    for (auto component = tied; component != result.end(); ++component) {
      merged.parameters |= component->parameters;
      merged.rules.insert(merged.rules.end(), component->rules.begin(), component->rules.end());
    }
    merged.rules.push_back(&rule);
    result.erase(tied, result.end());
    result.push_back(std::move(merged));
  }
  return result;
}

Tree list(const Rules& rules, const Component& component) {
  Enumerator enumerator(rules, component);
  Tree tree(enumerator.order());
  enumerator.visit(tree);
  return tree;
}

std::uint64_t count(const Rules& rules, const Component& component) {
  Enumerator enumerator(rules, component);
  LeafCounter counter{enumerator.order().size() - 1};
  enumerator.visit(counter);
  return counter.leaves;
}

}  // namespace tuner
