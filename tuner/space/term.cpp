// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/term.hpp"

#include <algorithm>
#include <utility>

namespace tuner::space {
namespace {

bool is_faulty(Rational value) {
  return value.denominator == 0;
}
Rational whole_number(std::int64_t value) {
  return {value, 1};
}

Rational unary(Operation operation, Rational a) {
  if (is_faulty(a)) return kFaulty;
  Arithmetic<RationalArithmetic> math;
  const Rational result = math.unary(operation, a);
  return math.fault() ? kFaulty : result;
}

Rational binary(Operation operation, Rational a, Rational b) {
  if (is_faulty(a) || is_faulty(b)) return kFaulty;
  if (a.denominator == 1 && b.denominator == 1 && operation != Operation::divide) {
    Arithmetic<IntegerArithmetic> math;
    const std::int64_t result = math.binary(operation, a.numerator, b.numerator);
    return math.fault() ? kFaulty : whole_number(result);
  }
  Arithmetic<RationalArithmetic> math;
  const Rational result = math.binary(operation, a, b);
  return math.fault() ? kFaulty : result;
}

Rational truth(Rational value) {
  return is_faulty(value) ? kFaulty : whole_number(value.numerator != 0 ? 1 : 0);
}

Interval truth(Interval a) {
  return apply(Operation::truth, a);
}

Interval bound_disjunction(Interval a, Interval b) {
  if (a.is_true()) return Interval::exactly(1);
  if (a.is_false() && !a.may_fault) return truth(b);
  const Interval x = truth(a);
  const Interval y = truth(b);
  return {std::max(x.low, y.low), std::max(x.high, y.high), x.may_fault || y.may_fault};
}

Interval bound_conjunction(Interval a, Interval b) {
  if (a.is_false()) return {0, 0, a.may_fault};
  if (a.is_true()) return truth(b);
  const Interval x = truth(a);
  const Interval y = truth(b);
  return {std::min(x.low, y.low), std::min(x.high, y.high), x.may_fault || y.may_fault};
}

Interval bound_conditional(std::span<const Interval> operands) {
  if (operands[0].is_true()) return operands[1];
  if (operands[0].is_false() && !operands[0].may_fault) return operands[2];
  Interval either = hull(operands[1], operands[2]);
  either.may_fault |= operands[0].may_fault;
  return either;
}

bool yields_whole_number(const Term& term) {
  switch (term.kind) {
    case TermKind::unary:
      return term.operation != Operation::negate && term.operation != Operation::absolute;
    case TermKind::binary:
      switch (term.operation) {
        case Operation::add:
        case Operation::subtract:
        case Operation::multiply:
        case Operation::divide:
        case Operation::modulo:
        case Operation::align_up:
        case Operation::minimum:
        case Operation::maximum:
          return false;
        default:
          return true;
      }
    case TermKind::conditional:
      return false;
    default:  // sums and products are made of whole numbers only
      return true;
  }
}

}  // namespace

TermId Terms::add(Term term) {
  if (const auto known = ids_.find(term); known != ids_.end()) return known->second;
  const TermFacts facts = find_facts(term);
  const bool is_known = !facts.range.may_fault && facts.range.low == facts.range.high;
  if (is_known && term.kind != TermKind::constant && term.kind != TermKind::parameter) {
    const TermId value = add({.kind = TermKind::constant, .number = facts.range.low});
    ids_.emplace(std::move(term), value);
    return value;
  }
  const auto id = static_cast<TermId>(terms_.size());
  facts_.push_back(facts);
  terms_.push_back(term);
  ids_.emplace(std::move(term), id);
  return id;
}

namespace {

class Copier {
 public:
  explicit Copier(const Terms& from) : from_(from), to_(from.definition()) {}

  TermId copy(TermId id) {
    if (const auto known = copies_.find(id); known != copies_.end()) return known->second;
    Term term = from_[id];
    for (TermId& operand : term.operands) operand = copy(operand);
    return copies_.emplace(id, to_.add(std::move(term))).first->second;
  }
  Terms take() && { return std::move(to_); }

 private:
  const Terms& from_;
  Terms to_;
  std::map<TermId, TermId> copies_;
};

}  // namespace

Terms needed(const Terms& terms, std::span<TermId> wanted) {
  Copier copier(terms);
  for (TermId& id : wanted) id = copier.copy(id);
  return std::move(copier).take();
}

TermFacts Terms::find_facts(const Term& term) const {
  if (term.kind == TermKind::constant) return {.range = Interval::exactly(term.number)};
  if (term.kind == TermKind::parameter) {
    const auto index = static_cast<std::size_t>(term.number);
    const auto& values = definition_->parameters[index].values;
    const auto [least, most] = std::ranges::minmax_element(values, {}, &ParameterValue::number);
    return {parameter_bit(index),
            {least->number, most->number, false},
            static_cast<double>(values.size())};
  }
  TermFacts facts;
  std::vector<Interval> ranges;
  for (const TermId operand : term.operands) {
    const TermFacts& of = facts_[operand];
    facts.parameters |= of.parameters;
    facts.count *= of.count;
    facts.fractional |= of.fractional;
    ranges.push_back(of.range);
  }
  facts.fractional |= term.operation == Operation::divide;
  if (yields_whole_number(term)) facts.fractional = false;
  facts.range = bound(term.kind, term.operation, ranges);
  if (!facts.fractional) {
    const double width =
        static_cast<double>(facts.range.high) - static_cast<double>(facts.range.low) + 1;
    facts.count = std::min(facts.count, width);
  }
  return facts;
}

Rational evaluate(const Computation& computation, std::span<const Rational> values) {
  const Rational a = values[computation.operands[0]];
  switch (computation.kind) {
    case TermKind::unary:
      return unary(computation.operation, a);
    case TermKind::binary:
      return binary(computation.operation, a, values[computation.operands[1]]);
    case TermKind::conjunction:
      if (is_faulty(a) || a.numerator == 0) return a;
      return truth(values[computation.operands[1]]);
    case TermKind::disjunction:
      if (is_faulty(a)) return a;
      return a.numerator != 0 ? whole_number(1) : truth(values[computation.operands[1]]);
    case TermKind::conditional:
      if (is_faulty(a)) return a;
      return values[computation.operands[a.numerator != 0 ? 1 : 2]];
    case TermKind::whole:
      return a.denominator == 1 ? a : kFaulty;
    default:  // defined
      return is_faulty(a) ? a : whole_number(1);
  }
}

Interval bound(TermKind kind, Operation operation, std::span<const Interval> operands) {
  switch (kind) {
    case TermKind::unary:
      return apply(operation, operands[0]);
    case TermKind::conjunction:
      return bound_conjunction(operands[0], operands[1]);
    case TermKind::disjunction:
      return bound_disjunction(operands[0], operands[1]);
    case TermKind::conditional:
      return bound_conditional(operands);
    case TermKind::whole:
      return operands[0];
    case TermKind::defined:
      return {1, 1, operands[0].may_fault};
    default: {  // binary, sum, product
      Interval result = operands[0];
      for (const Interval& operand : operands.subspan(1)) {
        result = apply(operation, result, operand);
      }
      return result;
    }
  }
}

Interval around(Rational value) {
  if (is_faulty(value)) return {};
  if (value.denominator == 1) return Interval::exactly(value.numerator);
  IntegerArithmetic math;
  const std::int64_t low = math.floor_divide(value.numerator, value.denominator);
  // A fraction is not taken by every operation.
  return {low, low + 1, true};
}

}  // namespace tuner::space
