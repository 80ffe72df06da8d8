// SPDX-License-Identifier: Apache-2.0
// Conditions as a graph of the values they are computed from, each value once however many
// conditions need it. Enumeration computes a value as soon as its parameters are known, and what
// conditions still to be decided read of the known values is all that matters to what can follow.
#pragma once

#include "tuner/space/arithmetic.hpp"
#include "tuner/space/interval.hpp"
#include "tuner/space/rules.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tuner::space {

enum class TermKind : std::uint8_t {
  constant,     ///< number
  parameter,    ///< number is its index
  unary,        ///< operation on one operand
  binary,       ///< operation on two
  sum,          ///< of any number of operands; no order of addition overflows
  product,      ///< the same of multiplication
  conjunction,  ///< of two; the second does not matter when the first is false
  disjunction,  ///< of two; the second does not matter when the first is true
  conditional,  ///< condition, value if true, value if false
  whole,        ///< its operand, which must be no fraction
  defined,      ///< true when its operand has a value
};

using TermId = std::uint32_t;

struct Term {
  TermKind kind = TermKind::constant;
  Operation operation = Operation::constant;
  std::int64_t number = 0;
  std::vector<TermId> operands{};

  auto operator<=>(const Term&) const = default;
};

/// A value that a computation has not: its denominator is 0.
inline constexpr Rational kFaulty{0, 0};

/// What is known of a term before any parameter is.
struct TermFacts {
  ParameterSet parameters = 0;
  Interval range{};
  double count = 1;         ///< about how many values it can have
  bool fractional = false;  ///< whether it can be a fraction
};

class Terms {
 public:
  explicit Terms(const SpaceDefinition& definition) : definition_(&definition) {}

  /// The term of this content, operands before what is made of them. Equal terms are one, and a
  /// term that can have one value only is that constant.
  TermId add(Term term);
  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] const Term& operator[](TermId id) const { return terms_[id]; }
  [[nodiscard]] const TermFacts& facts(TermId id) const { return facts_[id]; }
  [[nodiscard]] const SpaceDefinition& definition() const { return *definition_; }

 private:
  [[nodiscard]] TermFacts find_facts(const Term& term) const;

  const SpaceDefinition* definition_;
  std::vector<Term> terms_;
  std::vector<TermFacts> facts_;
  std::map<Term, TermId> ids_;
};

/// The terms that `wanted` need and no others, in the order in which they are needed first;
/// `wanted` names them in the result.
[[nodiscard]] Terms needed(const Terms& terms, std::span<TermId> wanted);

/// The terms that must all be true for a rule to hold. Sums and products are gathered, so that they
/// can be computed in whatever order their operands become known.
[[nodiscard]] std::vector<TermId> conditions(Terms& terms, const Rules& rules, const Rule& rule);

/// How to compute a term of at most three operands that is neither a parameter nor a constant.
struct Computation {
  TermKind kind = TermKind::unary;
  Operation operation = Operation::constant;
  TermId result = 0;
  std::array<TermId, 3> operands{};
};

/// The value of a term, given all values by term.
[[nodiscard]] Rational evaluate(const Computation& computation, std::span<const Rational> values);

/// The interval of a term, given those of its operands.
[[nodiscard]] Interval bound(TermKind kind, Operation operation,
                             std::span<const Interval> operands);

/// The interval of a value that is known.
[[nodiscard]] Interval around(Rational value);

}  // namespace tuner::space
