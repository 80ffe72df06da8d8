// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/rules.hpp"

#include "tuner/space/device.hpp"
#include "tuner/space/syntax.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace tuner::space {
namespace {

constexpr std::size_t kSamples = 256;

/// Finds where extents of the size meet parameters in the arithmetic of an expression.
class ExtentFinder {
 public:
  explicit ExtentFinder(const SpaceDefinition& definition) : definition_(definition) {}

  bool finds(const Expression& expression) const { return find(expression).meet; }

 private:
  /// Of a value: what determines it, apart from what only decides between few outcomes.
  struct Sources {
    bool parameters = false;
    bool extents = false;
    bool meet = false;  // in some operation on the way to the value
  };

  Sources find(const Expression& expression) const {
    return find(expression.syntax(), expression.root());
  }

  Sources find(const Syntax& syntax, std::size_t index) const {
    const Node& node = syntax.nodes[index];
    if (node.kind == NodeKind::slot) return of_slot(static_cast<std::size_t>(node.value));
    Sources result;
    bool extents_alone = false;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Sources operand = find(syntax, node.operands[i]);
      result.parameters |= operand.parameters;
      result.meet |= operand.meet;
      if (only_decides(node, i)) continue;
      result.extents |= operand.extents;
      extents_alone |= operand.extents && !operand.parameters;
    }
    result.meet |= result.parameters && extents_alone;
    if (is_truth(node) && !result.parameters) result.extents = false;
    return result;
  }

  Sources of_slot(std::size_t slot) const {
    const std::size_t first = attribute_fields().size();
    if (slot < first) return {};
    if (slot < first + definition_.dims.size()) {
      return {.extents = !definition_.dims[slot - first].is_kind()};
    }
    const auto derived = std::ranges::find(definition_.derived, slot, &Derived::slot);
    if (derived != definition_.derived.end()) return find(derived->expression);
    const auto parameter = std::ranges::find(definition_.parameters, slot, &Parameter::slot);
    return {.parameters = parameter->values.size() > 1};
  }

  static bool only_decides(const Node& node, std::size_t operand) {
    return node.kind == NodeKind::logical_and || node.kind == NodeKind::logical_or ||
           (node.kind == NodeKind::conditional && operand == 0);
  }

  static bool is_truth(const Node& node) {
    return node.kind == NodeKind::comparison || node.kind == NodeKind::membership ||
           (node.kind == NodeKind::unary &&
            (node.operation == Operation::logical_not || node.operation == Operation::truth));
  }

  const SpaceDefinition& definition_;
};

}  // namespace

Rules::Rules(const SpaceDefinition& definition, ExpressionValues base, std::size_t most_tabulated)
    : definition_(&definition), base_(std::move(base)), most_tabulated_(most_tabulated) {
  base_.resize(definition.scope.size());
  for (const Parameter& parameter : definition.parameters) {
    if (parameter.values.size() == 1) base_[parameter.slot] = parameter.values.front().number;
  }
  for (const Derived& derived : definition.derived) {
    ParameterSet parameters = direct_parameters(derived.expression);
    for (const std::size_t inner : derived_needed(derived.expression)) {
      parameters |= derived_parameters_[inner];
    }
    derived_parameters_.push_back(parameters);
  }
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    if (definition.parameters[i].when) add(0, *definition.parameters[i].when, i);
  }
  for (std::size_t i = 0; i < definition.constraints.size(); ++i) {
    const Expression& whole = definition.constraints[i].expression;
    for (Expression& part : whole.conjuncts()) {
      add(i + 1, std::move(part), std::nullopt);
    }
  }
}

void Rules::add(std::size_t stage, Expression condition, std::optional<std::size_t> guarded) {
  Rule rule{.stage = stage, .condition = std::move(condition), .guarded = guarded};
  rule.derived = derived_needed(rule.condition);
  rule.parameters = direct_parameters(rule.condition);
  for (const std::size_t derived : rule.derived) rule.parameters |= derived_parameters_[derived];
  if (guarded && definition_->parameters[*guarded].values.size() > 1) {
    rule.parameters |= parameter_bit(*guarded);
  }
  rule.reads_extents = ExtentFinder(*definition_).finds(rule.condition);
  measure(rule);
  const bool always_true = !rule.table.empty() && rule.selectivity == 1;
  if (!always_true) rules_.push_back(std::move(rule));
}

/// Fills the table of a rule, or only estimates its selectivity when that would be too large.
void Rules::measure(Rule& rule) const {
  const std::vector<Parameter>& parameters = definition_->parameters;
  std::vector<std::size_t> strides(parameters.size());
  std::vector<std::size_t> varying;
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if ((rule.parameters & parameter_bit(i)) == 0) continue;
    varying.push_back(i);
    strides[i] = combinations;
    // The product is of no interest beyond the limit, but must not wrap around.
    if (combinations <= most_tabulated_) combinations *= parameters[i].values.size();
  }
  ExpressionValues values = base_;
  const auto choose = [&](std::size_t parameter, std::size_t choice) {
    values[parameters[parameter].slot] = parameters[parameter].values[choice].number;
  };
  std::size_t satisfied = 0;
  if (combinations > most_tabulated_) {
    std::minstd_rand random;
    for (std::size_t i = 0; i < kSamples; ++i) {
      for (const std::size_t p : varying) choose(p, random() % parameters[p].values.size());
      if (holds_on(rule, values)) ++satisfied;
    }
    // Neither certainly true nor certainly false, however the samples fell.
    rule.selectivity = (static_cast<double>(satisfied) + 0.5) / (kSamples + 1);
    return;
  }
  rule.strides = std::move(strides);
  rule.table.resize(combinations);
  for (std::size_t place = 0; place < combinations; ++place) {
    std::size_t rest = place;
    for (const std::size_t p : varying) {
      choose(p, rest % parameters[p].values.size());
      rest /= parameters[p].values.size();
    }
    rule.table[place] = holds_on(rule, values) ? 1 : 0;
    satisfied += rule.table[place];
  }
  rule.selectivity = static_cast<double>(satisfied) / static_cast<double>(combinations);
}

bool Rules::holds(const Rule& rule, const SpaceDefinition& definition,
                  const ExpressionValues& values) {
  if (rule.guarded) {
    const Parameter& parameter = definition.parameters[*rule.guarded];
    if (values[parameter.slot] == parameter.values[parameter.default_index].number) return true;
  }
  const auto value = rule.condition.evaluate(values);
  return value && *value != 0;
}

/// Computes what the rule needs first.
bool Rules::holds_on(const Rule& rule, ExpressionValues& values) const {
  for (const std::size_t i : rule.derived) {
    const auto value = definition_->derived[i].expression.evaluate(values);
    if (!value) return false;
    values[definition_->derived[i].slot] = *value;
  }
  return holds(rule, *definition_, values);
}

std::vector<std::size_t> Rules::derived_needed(const Expression& expression) const {
  // Derived values refer to earlier ones only, so one pass from the last to the first finds all.
  std::vector<bool> needed(definition_->scope.size());
  for (const std::size_t slot : expression.slots()) needed[slot] = true;
  std::vector<std::size_t> result;
  for (std::size_t i = definition_->derived.size(); i-- > 0;) {
    const Derived& derived = definition_->derived[i];
    if (!needed[derived.slot]) continue;
    for (const std::size_t slot : derived.expression.slots()) needed[slot] = true;
    result.push_back(i);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

ParameterSet Rules::direct_parameters(const Expression& expression) const {
  ParameterSet result = 0;
  const std::vector<std::size_t>& values = expression.slots();
  for (std::size_t i = 0; i < definition_->parameters.size(); ++i) {
    const Parameter& parameter = definition_->parameters[i];
    const bool mentioned = std::binary_search(values.begin(), values.end(), parameter.slot);
    if (mentioned && parameter.values.size() > 1) result |= parameter_bit(i);
  }
  return result;
}

}  // namespace tuner::space
