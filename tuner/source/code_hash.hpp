// SPDX-License-Identifier: Apache-2.0
// Module source: kernels as text: tokens, includes, the code that a kernel needs and its hash, and
// probes whose compilation answers what a kernel's parameters are.
#pragma once

#include <string>
#include <string_view>

namespace tuner::source {

/// Identifies the code of a source: SHA-256 of its tokens. Comments, blank space and line breaks do
/// not change it.
[[nodiscard]] std::string code_hash(std::string_view code);

/// SHA-256 of its tokens and of where blank space is between them. How much of it, and a comment
/// in its place, do not change it.
[[nodiscard]] std::string spaced_code_hash(std::string_view code);

/// What of a source decides what a compiler makes of it, each more than those before.
enum class Decisive {
  tokens,
  blanks,  ///< and blank space between tokens: a macro turns them into text
  text,    ///< it asks for its line, or has characters that compilers read differently
};
[[nodiscard]] Decisive decisive(std::string_view code);

}  // namespace tuner::source
