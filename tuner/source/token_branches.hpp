// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/token.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::source {

/// Which branch of every #if with several a reader takes.
enum class BranchChoice { first, last };

/// Whether each token stands in branches that are taken; directives do. In a text whose braces
/// match only where one branch of each #if is read, they match among these.
[[nodiscard]] std::vector<bool> taken_tokens(std::span<const Token> tokens, BranchChoice choice);

}  // namespace tuner::source
