// SPDX-License-Identifier: Apache-2.0
// The inner loop of enumeration: no allocation, no branch on faults.
#include "tuner/space/arithmetic.hpp"
#include "tuner/space/expression.hpp"

#include <array>
#include <cassert>

namespace tuner::space {
namespace {

/// Runs the code of one expression. The topmost value is kept apart from the stack below it: with
/// the right operand taken in place, most instructions then touch no memory but their own.
template <class Base>
class Evaluator {
 public:
  using Value = typename Base::Value;

  explicit Evaluator(std::span<const std::int64_t> slots) : slots_(slots.data()) {}

  Expected<std::int64_t, Fault> run(std::span<const Instruction> code) {
    std::array<Value, kStackDepth> stack;  // uninitialised: only what was pushed is read
    State state{Base::from(0), stack.data(), code.data()};
    const Instruction* const end = code.data() + code.size();
    while (state.next != end) {
      const Instruction& instruction = *state.next++;
      if (is_control(instruction.operation)) {
        state = control(instruction, state, code.data());
      } else if (is_unary(instruction.operation)) {
        state.top = math_.unary(instruction.operation, state.top);
      } else if (instruction.right == OperandSource::stack) {
        const Value right = state.top;
        state.top = math_.binary(instruction.operation, *--state.below, right);
      } else {
        state.top = math_.binary(instruction.operation, state.top, operand(instruction));
      }
    }
    const std::int64_t result = math_.integer(state.top);
    if (const auto fault = math_.fault()) return Unexpected(*fault);
    return result;
  }

 private:
  struct State {
    Value top;
    Value* below;  // one past the value under the topmost
    const Instruction* next;
  };

  static Value boolean(bool value) { return Base::from(value ? 1 : 0); }

  Value operand(const Instruction& instruction) const {
    const bool is_slot = instruction.right == OperandSource::slot;
    return Base::from(is_slot ? slots_[instruction.index] : instruction.value);
  }

  static State push(State state, Value value) {
    *state.below = state.top;
    return {value, state.below + 1, state.next};
  }
  static State drop(State state) { return {state.below[-1], state.below - 1, state.next}; }

  /// Performs an instruction of control and returns what it leaves.
  [[gnu::always_inline]] State control(const Instruction& instruction, State state,
                                       const Instruction* code) const {
    const Instruction* const target = code + instruction.index;
    switch (instruction.operation) {
      case Operation::constant:
        return push(state, Base::from(instruction.value));
      case Operation::load:
        return push(state, Base::from(slots_[instruction.index]));
      case Operation::tuck: {
        const Value under = state.below[-1];
        state.below[-1] = state.top;
        return push({under, state.below, state.next}, state.top);
      }
      case Operation::chain:
        if (Base::is_true(state.top)) return drop(state);
        return {boolean(false), state.below - 1, target};
      case Operation::member:
        if (Base::compare(state.below[-1], state.top) != 0) return drop(state);
        return {boolean(true), state.below - 1, target};
      case Operation::miss:
        return {boolean(false), state.below, state.next};
      case Operation::jump:
        return {state.top, state.below, target};
      case Operation::jump_unless: {
        const State rest = drop(state);
        return Base::is_true(state.top) ? rest : State{rest.top, rest.below, target};
      }
      case Operation::jump_and:
        if (Base::is_true(state.top)) return drop(state);
        return {state.top, state.below, target};
      default:  // jump_or
        if (!Base::is_true(state.top)) return drop(state);
        return {boolean(true), state.below, target};
    }
  }

  const std::int64_t* slots_;
  Arithmetic<Base> math_;
};

}  // namespace

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::overflow:
      return "overflow of 64-bit integers";
    case Fault::division_by_zero:
      return "division by zero";
    case Fault::not_an_integer:
      return "not a whole number";
    case Fault::domain:
      return "outside the domain of log2 or a shift";
  }
  return "fault";
}

Expected<std::int64_t, Fault> Expression::evaluate(std::span<const std::int64_t> values) const {
  assert(slots_.empty() || slots_.back() < values.size());
  return fractional_ ? Evaluator<RationalArithmetic>(values).run(code_)
                     : Evaluator<IntegerArithmetic>(values).run(code_);
}

}  // namespace tuner::space
