// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner {

/// Foreign text that is safe to write to a terminal: control characters except newline and tab,
/// marks that reorder text, and bytes that are not UTF-8 are escaped: "\x1b", "\u202e".
[[nodiscard]] std::string printable(std::string_view text);

/// A foreign name, which stays on one line: newline and tab are escaped too.
[[nodiscard]] std::string printable_name(std::string_view name);

/// Foreign text as UTF-8: bytes that are not UTF-8 are read as Latin-1, as in an old comment.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace tuner
