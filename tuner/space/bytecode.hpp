// SPDX-License-Identifier: Apache-2.0
// The stack machine that expressions are compiled to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tuner::space {

enum class Operation : std::uint8_t {
  // Control: what moves values and the place of execution. `index` is a slot or a target.
  constant,     ///< push `value`
  load,         ///< push slot `index`
  tuck,         ///< a b → b a b: keeps the middle of a chained comparison
  chain,        ///< b r → b when r is true; else 0, and jump
  member,       ///< x e → x when they differ; else 1, and jump
  miss,         ///< x → 0: x was no member
  jump,         ///< go to `index`
  jump_unless,  ///< pop; go to `index` when it was false
  jump_and,     ///< pop when true; else 0, and jump
  jump_or,      ///< pop when false; else 1, and jump
  // One operand, on the stack.
  negate,
  complement,
  logical_not,
  truth,
  absolute,
  is_power_of_two,
  log2,
  // Two operands: the left one on the stack, the right one where `right` says.
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  ceil_divide,
  align_up,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
};

/// Where the right operand of a two-operand instruction is. Most are constants or slots; taking
/// them in place halves the instructions of a typical constraint.
enum class OperandSource : std::uint8_t { stack, slot, constant };

struct Instruction {
  Operation operation = Operation::constant;
  OperandSource right = OperandSource::stack;
  std::uint32_t index = 0;
  std::int64_t value = 0;
};

/// Values that an expression may hold at once; the compiler refuses what needs more.
inline constexpr std::size_t kStackDepth = 256;

[[nodiscard]] constexpr bool is_control(Operation o) {
  return o < Operation::negate;
}
[[nodiscard]] constexpr bool is_unary(Operation o) {
  return o >= Operation::negate && o < Operation::add;
}
[[nodiscard]] constexpr bool is_comparison(Operation o) {
  return o >= Operation::less;
}

}  // namespace tuner::space
