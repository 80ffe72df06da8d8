// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner {

/// Text from outside as it may be written to a terminal: what a terminal would act upon instead of
/// showing it (control characters but newline and tab, marks that reorder text, bytes that are no
/// UTF-8) stands as an escape: "\x1b", "\u202e". Other text is left as it is.
[[nodiscard]] std::string printable(std::string_view text);

/// Text from outside as UTF-8: a byte that is none stands for the character that it is in Latin-1,
/// as in an old comment. UTF-8 is left as it is.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace tuner
