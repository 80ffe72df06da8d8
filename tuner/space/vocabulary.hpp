// SPDX-License-Identifier: Apache-2.0
// The keywords, operators and functions of the expression language.
#pragma once

#include "tuner/space/bytecode.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

/// Words that cannot be names: and, or, not, in, true, …
[[nodiscard]] bool is_keyword(std::string_view word);

/// The comparison of a symbol: < <= > >= == !=
[[nodiscard]] std::optional<Operation> find_comparison(std::string_view symbol);

struct ArithmeticOperator {
  std::string_view symbol;
  Operation operation;
  int precedence;  ///< from 1; a higher one binds tighter; all associate to the left
};
/// Null when the symbol is none.
[[nodiscard]] const ArithmeticOperator* find_arithmetic(std::string_view symbol);

inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
struct Function {
  std::string_view name;
  Operation operation;
  std::size_t least_arguments;
  std::size_t most_arguments;  ///< kAnyNumber: folded from the left
};
/// Null when there is none of this name.
[[nodiscard]] const Function* find_function(std::string_view name);
[[nodiscard]] const std::vector<std::string>& function_names();

}  // namespace tuner::space
