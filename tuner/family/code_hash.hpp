// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::family {

/// Identifies the code of a source, or an expression of a space file: SHA-256 of its tokens.
/// Comments, blank space and line breaks do not change it, nor does the order of #include
/// directives that follow each other.
[[nodiscard]] std::string code_hash(std::string_view code);

}  // namespace tuner::family
