// SPDX-License-Identifier: Apache-2.0
// The words of the expression language: its tokens, keywords, operators and functions.
#pragma once

#include "tuner/space/bytecode.hpp"
#include "tuner/space/expression.hpp"

#include <cstddef>
#include <cstdint>
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

enum class TokenKind { number, name, word, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< of a word without its quotes
  std::size_t column = 0;
  std::size_t length = 0;    ///< in the source, with quotes
  std::uint64_t number = 0;  ///< at most 2^63: the sign of the smallest integer comes before it
};

/// The tokens of `text`, the last one `end`. They point into `text`. Throws ExpressionError, which
/// `Expression::compile` turns into its result.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

}  // namespace tuner::space
