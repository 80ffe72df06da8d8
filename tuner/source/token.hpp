// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tuner::source {

/// A token of C++, as far as telling declarations apart needs it.
struct Token {
  enum class Kind {
    word,       ///< an identifier, a keyword or a number
    mark,       ///< one character of punctuation
    literal,    ///< a string or a character
    directive,  ///< of the preprocessor, with its continued lines; a whole block of #if 0
  };
  Kind kind = Kind::mark;
  std::size_t begin = 0;  ///< in the text
  std::string_view text;  ///< a part of the text that was read
};

/// The tokens of a source. Comments and blanks are none. Never fails: what is not closed ends with
/// the text.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

}  // namespace tuner::source
