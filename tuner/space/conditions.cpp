// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/syntax.hpp"
#include "tuner/space/term.hpp"

#include <algorithm>
#include <optional>

namespace tuner::space {
namespace {

__extension__ using Wide = __int128;

/// The largest magnitude that a sum or product may have in whatever order it is computed.
constexpr Wide kMostGathered = Wide{1} << 62;

Wide magnitude(Interval range) {
  return std::max(range.low < 0 ? -Wide{range.low} : Wide{range.low},
                  range.high < 0 ? -Wide{range.high} : Wide{range.high});
}

class Converter {
 public:
  Converter(Terms& terms, const Rules& rules) : terms_(terms), rules_(rules) {}

  TermId convert(const Expression& expression) {
    return whole(convert(expression.syntax(), expression.root()));
  }
  TermId derived(std::size_t index) {
    return convert(rules_.definition().derived[index].expression);
  }
  TermId add(TermKind kind, std::vector<TermId> operands,
             Operation operation = Operation::constant) {
    return terms_.add({.kind = kind, .operation = operation, .operands = std::move(operands)});
  }
  TermId constant(std::int64_t number) {
    return terms_.add({.kind = TermKind::constant, .number = number});
  }
  TermId parameter(std::size_t index) {
    const Parameter& parameter = rules_.definition().parameters[index];
    if (parameter.values.size() == 1) return constant(parameter.values.front().number);
    return terms_.add({.kind = TermKind::parameter, .number = static_cast<std::int64_t>(index)});
  }

 private:
  TermId convert(const Syntax& syntax, std::size_t index) {
    const Node& node = syntax.nodes[index];
    if (node.kind == NodeKind::constant) return constant(node.value);
    if (node.kind == NodeKind::slot) return slot(static_cast<std::size_t>(node.value));
    std::vector<TermId> operands;
    for (const std::size_t operand : node.operands) operands.push_back(convert(syntax, operand));
    switch (node.kind) {
      case NodeKind::unary:
        return add(TermKind::unary, std::move(operands), node.operation);
      case NodeKind::binary:
        return binary(node.operation, operands[0], operands[1]);
      case NodeKind::comparison:
        return comparison(node, operands);
      case NodeKind::membership:
        return membership(operands);
      case NodeKind::logical_and:
        return add(TermKind::conjunction, std::move(operands));
      case NodeKind::logical_or:
        return add(TermKind::disjunction, std::move(operands));
      default:
        return add(TermKind::conditional, std::move(operands));
    }
  }

  TermId slot(std::size_t slot) {
    const SpaceDefinition& definition = rules_.definition();
    const auto parameter = std::ranges::find(definition.parameters, slot, &Parameter::slot);
    if (parameter != definition.parameters.end()) {
      return this->parameter(static_cast<std::size_t>(parameter - definition.parameters.begin()));
    }
    const auto derived = std::ranges::find(definition.derived, slot, &Derived::slot);
    if (derived != definition.derived.end()) return convert(derived->expression);
    return constant(rules_.base()[slot]);
  }

  TermId whole(TermId term) {
    return terms_.facts(term).fractional ? add(TermKind::whole, {term}) : term;
  }

  TermId comparison(const Node& node, const std::vector<TermId>& operands) {
    TermId result = 0;
    for (std::size_t i = node.comparisons.size(); i-- > 0;) {
      const TermId link =
          add(TermKind::binary, {operands[i], operands[i + 1]}, node.comparisons[i]);
      const bool last = i + 1 == node.comparisons.size();
      result = last ? link : add(TermKind::conjunction, {link, result});
    }
    return result;
  }

  TermId membership(const std::vector<TermId>& operands) {
    TermId result = constant(0);
    for (std::size_t i = operands.size(); i-- > 1;) {
      const TermId equal = add(TermKind::binary, {operands[0], operands[i]}, Operation::equal);
      result = add(TermKind::disjunction, {equal, result});
    }
    return result;
  }

  TermId binary(Operation operation, TermId a, TermId b) {
    std::optional<TermId> gathered;
    if (operation == Operation::add) gathered = add_contenders(TermKind::sum, Operation::add, a, b);
    if (operation == Operation::subtract && magnitude(terms_.facts(b).range) <= kMostGathered) {
      gathered = add_contenders(TermKind::sum, Operation::add, a, negated(b));
    }
    if (operation == Operation::multiply) {
      gathered = add_contenders(TermKind::product, Operation::multiply, a, b);
    }
    return gathered ? *gathered : add(TermKind::binary, {a, b}, operation);
  }

  TermId negated(TermId term) {
    if (terms_[term].kind != TermKind::sum) return add(TermKind::unary, {term}, Operation::negate);
    std::vector<TermId> operands;
    for (const TermId operand : std::vector<TermId>(terms_[term].operands)) {
      operands.push_back(add(TermKind::unary, {operand}, Operation::negate));
    }
    std::ranges::sort(operands);
    return add(TermKind::sum, std::move(operands), Operation::add);
  }

  /// One sum or product of the operands of both; none when another order could overflow where this
  /// one does not, or the other way round.
  std::optional<TermId> add_contenders(TermKind kind, Operation operation, TermId a, TermId b) {
    std::vector<TermId> operands;
    for (const TermId side : {a, b}) {
      const Term& term = terms_[side];
      if (term.kind == kind) {
        operands.insert(operands.end(), term.operands.begin(), term.operands.end());
      } else {
        operands.push_back(side);
      }
    }
    Wide total = 1;
    for (const TermId operand : operands) {
      const TermFacts& facts = terms_.facts(operand);
      const Wide size = magnitude(facts.range);
      if (facts.fractional || size > kMostGathered) return std::nullopt;
      total = kind == TermKind::sum ? total + size : total * std::max<Wide>(size, 1);
      if (total > kMostGathered) return std::nullopt;
    }
    std::ranges::sort(operands);
    return add(kind, std::move(operands), operation);
  }

  Terms& terms_;
  const Rules& rules_;
};

}  // namespace

std::vector<TermId> conditions(Terms& terms, const Rules& rules, const Rule& rule) {
  Converter converter(terms, rules);
  std::vector<TermId> result;
  for (const std::size_t i : rule.derived) {
    const TermId value = converter.derived(i);
    // What cannot fault need not be asked.
    if (!terms.facts(value).range.may_fault) continue;
    result.push_back(converter.add(TermKind::defined, {value}));
  }
  TermId condition = converter.convert(rule.condition);
  if (rule.guarded) {
    const Parameter& guarded = rules.definition().parameters[*rule.guarded];
    const TermId is_default =
        converter.add(TermKind::binary,
                      {converter.parameter(*rule.guarded),
                       converter.constant(guarded.values[guarded.default_index].number)},
                      Operation::equal);
    condition = converter.add(TermKind::disjunction, {is_default, condition});
  }
  result.push_back(condition);
  return result;
}

}  // namespace tuner::space
