// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the words of Python's lists.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tuner::interop {

enum class PythonTokenKind { number, string, name, symbol, end };

struct PythonToken {
  PythonTokenKind kind = PythonTokenKind::end;
  std::string_view text;  ///< of a string without its quotes
  std::size_t column = 0;
};

/// The tokens of `text`, the last one `end`. They point into `text`. Throws PythonError.
[[nodiscard]] std::vector<PythonToken> python_tokens(std::string_view text);

}  // namespace tuner::interop
