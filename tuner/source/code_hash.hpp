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

/// Whether more than the tokens may decide what a compiler makes of a source: it asks for its line,
/// turns tokens into text, or has characters that compilers read differently. Such a source is
/// identified by its text.
[[nodiscard]] bool depends_on_layout(std::string_view code);

}  // namespace tuner::source
