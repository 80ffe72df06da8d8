// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/source.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::source {

/// A directive of a kernel's source that names a file.
struct Include {
  enum class Form { quoted, angled, none };  ///< "name", <name>, neither
  Form form = Form::none;
  std::string name;      ///< as written
  std::size_t at = 0;    ///< where the name begins in the text
  std::size_t end = 0;   ///< and ends
  std::size_t line = 0;  ///< from 1
  std::string problem;   ///< why a kernel may not have it; empty when it may
  /// Whether the problem is that the name contains "..".
  bool has_parent = false;
  /// The first word of the directive: where it begins in the text, and ends. Both 0 for a question
  /// whether there is a file, and where the word cannot be told.
  std::size_t word_at = 0, word_end = 0;
  /// Whether it stands in a branch of #if, which may be dead. The guard of a header is none.
  bool is_conditional = false;
};

/// Every directive that could make a compiler read a file, in order. Compilers take names without
/// ".." that are not absolute, spelt out; macros, #include_next, #import and #embed have a
/// problem. Sees through line continuations, comments and digraphs, and takes what a comment or a
/// raw string has at the beginning of a line for a directive: it finds too much rather than too
/// little.
[[nodiscard]] std::vector<Include> includes(std::string_view text);

/// "scale.cu:3: " and the first problem of a source and its headers; none when there is none.
[[nodiscard]] std::optional<std::string> include_problem(const KernelSource& source);

/// What to do about a header that g++ or NVRTC says it cannot find, as a line of its own behind the
/// compiler's message; empty when the message is about something else.
[[nodiscard]] std::string missing_header_hint(std::string_view message);

}  // namespace tuner::source
