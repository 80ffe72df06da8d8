// SPDX-License-Identifier: Apache-2.0
// The constraints of a space in the form that enumeration checks: split at their conjunctions,
// reduced to the parameters that can vary, and tabulated where that is cheap.
#pragma once

#include "tuner/space/definition.hpp"
#include "tuner/space/space.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tuner::space {

/// A set of parameters by index: there are at most 64.
using ParameterSet = std::uint64_t;

[[nodiscard]] constexpr ParameterSet parameter_bit(std::size_t parameter) {
  return ParameterSet{1} << parameter;
}

/// One condition that every configuration must satisfy.
struct Rule {
  /// Its place among the rules: 0 for a parameter's `when`, 1 + index for a constraint.
  std::size_t stage = 0;
  Expression condition;
  /// Of a `when` rule: the parameter that has its default unless the condition is true.
  std::optional<std::size_t> guarded;
  /// Derived values that the condition needs, in an order in which they can be computed. A derived
  /// value that cannot be computed breaks the rule.
  std::vector<std::size_t> derived{};
  /// The parameters with several values that it depends on.
  ParameterSet parameters = 0;
  /// Whether extents of the size enter its arithmetic, so that few sizes have the same rule. What
  /// extents only decide, as in `M % 4 == 0 ? A : B`, has few outcomes.
  bool reads_extents = false;
  /// The share of all combinations of these parameters that satisfies it; exact when tabulated.
  double selectivity = 1;
  /// Whether each combination satisfies it, for rules with few combinations; else empty. A
  /// combination's place is the sum of choice × stride over the rule's parameters.
  std::vector<std::uint8_t> table{};
  std::vector<std::size_t> strides{};  ///< one for every parameter of the definition, 0 outside
};

class Rules {
 public:
  /// Tabulating costs one evaluation a combination, which pays while that is no more than what
  /// enumeration would do.
  static constexpr std::size_t kMostTabulated = 4096;

  /// `base` has device attributes and dimensions set. Rules with at most `most_tabulated`
  /// combinations are tabulated.
  Rules(const SpaceDefinition& definition, ExpressionValues base,
        std::size_t most_tabulated = kMostTabulated);

  [[nodiscard]] const SpaceDefinition& definition() const { return *definition_; }
  /// Rules that some combination breaks, ascending by stage. A rule with no parameters is broken
  /// by all of them.
  [[nodiscard]] const std::vector<Rule>& all() const { return rules_; }
  /// Device attributes, dimensions and the parameters that have one value.
  [[nodiscard]] const ExpressionValues& base() const { return base_; }
  /// The parameters with several values that a derived value depends on.
  [[nodiscard]] ParameterSet parameters_of_derived(std::size_t derived) const {
    return derived_parameters_[derived];
  }
  /// Whether the rule holds on `values`, where the derived values it needs are set.
  [[nodiscard]] static bool holds(const Rule& rule, const SpaceDefinition& definition,
                                  const ExpressionValues& values);

 private:
  void add(std::size_t stage, Expression condition, std::optional<std::size_t> guarded);
  void measure(Rule& rule) const;
  [[nodiscard]] bool holds_on(const Rule& rule, ExpressionValues& values) const;
  [[nodiscard]] std::vector<std::size_t> derived_needed(const Expression& expression) const;
  [[nodiscard]] ParameterSet direct_parameters(const Expression& expression) const;

  const SpaceDefinition* definition_;
  ExpressionValues base_;
  std::size_t most_tabulated_;
  std::vector<ParameterSet> derived_parameters_;
  std::vector<Rule> rules_;
};

}  // namespace tuner::space
