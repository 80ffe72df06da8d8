// SPDX-License-Identifier: Apache-2.0
// The syntax tree of an expression, its names resolved and its types checked.
#pragma once

#include "tuner/space/bytecode.hpp"
#include "tuner/space/expression.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

enum class NodeKind {
  constant,     ///< value
  slot,         ///< value is the slot
  unary,        ///< operation, one operand
  binary,       ///< operation, two operands
  comparison,   ///< a < b <= c: one operand more than `comparisons`
  membership,   ///< the first operand among the others
  logical_and,  ///< two operands
  logical_or,   ///< two operands
  conditional,  ///< condition, value if true, value if false
};

struct Node {
  NodeKind kind = NodeKind::constant;
  ValueKind value_kind = ValueKind::number;
  Operation operation = Operation::constant;
  std::int64_t value = 0;
  std::vector<std::size_t> operands{};  ///< indices of nodes
  std::vector<Operation> comparisons{};
  std::size_t column = 0;  ///< in the text
  std::size_t length = 0;
};

struct Syntax {
  std::vector<Node> nodes;
  std::size_t root = 0;
};

/// Parses an expression. Throws ExpressionError, which `Expression::compile` turns into its result.
[[nodiscard]] Syntax parse_expression(std::string_view text, const Scope& scope);

}  // namespace tuner::space
