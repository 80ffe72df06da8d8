// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/bound_definition.hpp"
#include "tuner/space/expression.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tuner::space {

/// Throws Error(usage): `what`, the expression, and its fault or that its value is less than
/// `least`.
[[noreturn]] void refuse_value(const Expression& expression, const ExpressionValues& values,
                               std::string_view what, std::int64_t least);

inline constexpr std::int64_t kAnyValue = std::numeric_limits<std::int64_t>::min();

/// The value of an expression that must have one, of at least `least`; else throws as refuse_value.
/// `what` is a text, or makes one when it is needed.
template <class What>
[[nodiscard]] std::int64_t required_value(const Expression& expression,
                                          const ExpressionValues& values, const What& what,
                                          std::int64_t least = kAnyValue) {
  const auto value = expression.evaluate(values);
  if (value && *value >= least) return *value;
  if constexpr (std::invocable<What>) {
    refuse_value(expression, values, what(), least);
  } else {
    refuse_value(expression, values, what, least);
  }
}

}  // namespace tuner::space
