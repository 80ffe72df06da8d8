// SPDX-License-Identifier: Apache-2.0
// The words of the expression language.
#pragma once

#include "tuner/space/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tuner::space {

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
