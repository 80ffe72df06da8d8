// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/bytecode.hpp"
#include "tuner/space/syntax.hpp"

#include <vector>

namespace tuner::space {

/// The code that leaves the value of the node `root` on the stack. Throws ExpressionError when it
/// would need more than kStackDepth values at once.
[[nodiscard]] std::vector<Instruction> generate(const Syntax& syntax, std::size_t root);

/// The nodes that must all be true for the node `root` to be true: `a && b < c < d` gives a, b < c,
/// c < d, for which nodes are added. The root alone when it is no conjunction.
[[nodiscard]] std::vector<std::size_t> split_conjunction(Syntax& syntax, std::size_t root);

}  // namespace tuner::space
