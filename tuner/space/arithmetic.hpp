// SPDX-License-Identifier: Apache-2.0
// Module space: the parameters of a kernel and what may be chosen: expressions, constraints,
// counting and enumeration of configurations; sizes and devices as values.
//
// The two number systems expressions are evaluated in: integers, and exact fractions for those
// that contain `/`. Both have the same operations. A fault is remembered, not thrown, and the
// operation yields 0: the result is discarded in the end, so no operation needs a branch after it.
#pragma once

#include "tuner/space/bytecode.hpp"
#include "tuner/space/expression.hpp"

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

namespace tuner::space {

class FaultFlag {
 public:
  [[nodiscard]] std::optional<Fault> fault() const { return fault_; }

 protected:
  std::int64_t fail(Fault fault) {
    if (!fault_) fault_ = fault;
    return 0;
  }

 private:
  std::optional<Fault> fault_;
};

class IntegerArithmetic : public FaultFlag {
 public:
  using Value = std::int64_t;

  static Value from(std::int64_t value) { return value; }
  std::int64_t integer(Value a) { return a; }
  static bool is_true(Value a) { return a != 0; }
  static std::strong_ordering compare(Value a, Value b) { return a <=> b; }

  Value add(Value a, Value b) {
    Value result = 0;
    return __builtin_add_overflow(a, b, &result) ? fail(Fault::overflow) : result;
  }
  Value subtract(Value a, Value b) {
    Value result = 0;
    return __builtin_sub_overflow(a, b, &result) ? fail(Fault::overflow) : result;
  }
  Value multiply(Value a, Value b) {
    Value result = 0;
    return __builtin_mul_overflow(a, b, &result) ? fail(Fault::overflow) : result;
  }
  Value negate(Value a) { return subtract(0, a); }
  Value floor_divide(Value a, Value b) {
    if (b == 0) return fail(Fault::division_by_zero);
    if (b == -1) return negate(a);  // the processor traps on the smallest integer
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  }
  Value modulo(Value a, Value b) {
    if (b == 0) return fail(Fault::division_by_zero);
    if (b == -1) return 0;
    const Value rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  Value ceil_divide(Value a, Value b) {
    if (b == 0) return fail(Fault::division_by_zero);
    if (b == -1) return negate(a);
    return a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
  }
  /// Never asked for: an expression that divides exactly is evaluated on fractions.
  Value divide(Value a, Value b) { return floor_divide(a, b); }
};

/// A fraction in lowest terms, the denominator positive.
struct Rational {
  std::int64_t numerator;
  std::int64_t denominator;
};

class RationalArithmetic : public FaultFlag {
 public:
  using Value = Rational;

  static Value from(std::int64_t value) { return {value, 1}; }
  std::int64_t integer(Value a) {
    return a.denominator == 1 ? a.numerator : fail(Fault::not_an_integer);
  }
  static bool is_true(Value a) { return a.numerator != 0; }
  static std::strong_ordering compare(Value a, Value b) {
    if (a.denominator == b.denominator) return a.numerator <=> b.numerator;
    const Wide left = wide(a.numerator) * b.denominator;
    const Wide right = wide(b.numerator) * a.denominator;
    return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
  }

  Value add(Value a, Value b) {
    return reduce(wide(a.numerator) * b.denominator + wide(b.numerator) * a.denominator,
                  wide(a.denominator) * b.denominator);
  }
  Value subtract(Value a, Value b) {
    return reduce(wide(a.numerator) * b.denominator - wide(b.numerator) * a.denominator,
                  wide(a.denominator) * b.denominator);
  }
  Value multiply(Value a, Value b) {
    return reduce(wide(a.numerator) * b.numerator, wide(a.denominator) * b.denominator);
  }
  Value negate(Value a) { return subtract(from(0), a); }
  Value divide(Value a, Value b) {
    if (b.numerator == 0) return from(fail(Fault::division_by_zero));
    const Wide numerator = wide(a.numerator) * b.denominator;
    const Wide denominator = wide(a.denominator) * b.numerator;
    return denominator < 0 ? reduce(-numerator, -denominator) : reduce(numerator, denominator);
  }
  Value floor_divide(Value a, Value b) {
    if (b.numerator == 0) return from(fail(Fault::division_by_zero));
    if (are_small(a, b)) return from(IntegerArithmetic().floor_divide(a.numerator, b.numerator));
    const Wide divisor = wide(b.numerator) * a.denominator;
    const Wide dividend = wide(a.numerator) * b.denominator;
    return reduce((dividend - floor_modulo(dividend, divisor)) / divisor, 1);
  }
  Value modulo(Value a, Value b) {
    if (b.numerator == 0) return from(fail(Fault::division_by_zero));
    if (are_small(a, b)) return from(IntegerArithmetic().modulo(a.numerator, b.numerator));
    return reduce(
        floor_modulo(wide(a.numerator) * b.denominator, wide(b.numerator) * a.denominator),
        wide(a.denominator) * b.denominator);
  }
  Value ceil_divide(Value a, Value b) {
    if (b.numerator == 0) return from(fail(Fault::division_by_zero));
    const Wide divisor = wide(b.numerator) * a.denominator;
    const Wide negated = -wide(a.numerator) * b.denominator;
    return reduce((floor_modulo(negated, divisor) - negated) / divisor, 1);
  }

 private:
  // Products of two 64-bit numbers and their sums fit.
  __extension__ using Wide = __int128;

  static Wide wide(std::int64_t value) { return value; }
  static bool is_small(Wide value) {
    constexpr Wide kSmall = Wide{1} << 62;
    return -kSmall < value && value < kSmall;
  }
  /// Whole numbers far from overflow, as nearly all are: 128 bits take many times longer to divide.
  static bool are_small(Value a, Value b) {
    return a.denominator == 1 && b.denominator == 1 && is_small(a.numerator) &&
           is_small(b.numerator);
  }
  static Wide floor_modulo(Wide a, Wide b) {
    const Wide rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  static Wide greatest_common_divisor(Wide a, Wide b) {
    if (is_small(a) && is_small(b)) {
      return std::gcd(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
    }
    while (b != 0) {
      const Wide rest = a % b;
      a = b;
      b = rest;
    }
    return a < 0 ? -a : a;
  }
  Value reduce(Wide numerator, Wide denominator) {
    if (denominator != 1) {
      const Wide divisor = greatest_common_divisor(numerator, denominator);
      if (is_small(numerator) && is_small(denominator)) {
        return {static_cast<std::int64_t>(numerator) / static_cast<std::int64_t>(divisor),
                static_cast<std::int64_t>(denominator) / static_cast<std::int64_t>(divisor)};
      }
      numerator /= divisor;
      denominator /= divisor;
    }
    constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();
    constexpr Wide kSmallest = std::numeric_limits<std::int64_t>::min();
    if (numerator > kLargest || numerator < kSmallest || denominator > kLargest) {
      return from(fail(Fault::overflow));
    }
    return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
  }
};

/// The operations that only integers have, and those that both systems derive from the others.
template <class Base>
class Arithmetic : public Base {
 public:
  using typename Base::Value;

  Value bit_and(Value a, Value b) { return Base::from(this->integer(a) & this->integer(b)); }
  Value bit_or(Value a, Value b) { return Base::from(this->integer(a) | this->integer(b)); }
  Value bit_xor(Value a, Value b) { return Base::from(this->integer(a) ^ this->integer(b)); }
  Value complement(Value a) { return Base::from(~this->integer(a)); }
  Value shift_left(Value a, Value b) {
    const std::int64_t count = shift_count(b);
    const std::int64_t value = this->integer(a);
    const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << count);
    return Base::from(shifted >> count == value ? shifted : this->fail(Fault::overflow));
  }
  Value shift_right(Value a, Value b) { return Base::from(this->integer(a) >> shift_count(b)); }
  Value absolute(Value a) { return Base::compare(a, Base::from(0)) < 0 ? this->negate(a) : a; }
  Value align_up(Value a, Value b) { return this->multiply(this->ceil_divide(a, b), b); }
  Value minimum(Value a, Value b) { return Base::compare(b, a) < 0 ? b : a; }
  Value maximum(Value a, Value b) { return Base::compare(b, a) > 0 ? b : a; }
  Value is_power_of_two(Value a) {
    const std::int64_t value = this->integer(a);
    return Base::from(value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value)) ? 1 : 0);
  }
  /// Rounded down.
  Value log2(Value a) {
    const std::int64_t value = this->integer(a);
    if (value < 1) return Base::from(this->fail(Fault::domain));
    return Base::from(static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(value))) -
                      1);
  }

  /// Performs an operation by its name.
  [[gnu::always_inline]] Value unary(Operation operation, Value a) {
    switch (operation) {
      case Operation::negate:
        return this->negate(a);
      case Operation::complement:
        return this->complement(a);
      case Operation::logical_not:
        return boolean(!Base::is_true(a));
      case Operation::truth:
        return boolean(Base::is_true(a));
      case Operation::absolute:
        return this->absolute(a);
      case Operation::is_power_of_two:
        return this->is_power_of_two(a);
      default:
        return this->log2(a);
    }
  }

  [[gnu::always_inline]] Value binary(Operation operation, Value a, Value b) {
    switch (operation) {
      case Operation::add:
        return this->add(a, b);
      case Operation::subtract:
        return this->subtract(a, b);
      case Operation::multiply:
        return this->multiply(a, b);
      case Operation::divide:
        return this->divide(a, b);
      case Operation::floor_divide:
        return this->floor_divide(a, b);
      case Operation::modulo:
        return this->modulo(a, b);
      case Operation::ceil_divide:
        return this->ceil_divide(a, b);
      case Operation::align_up:
        return this->align_up(a, b);
      case Operation::shift_left:
        return this->shift_left(a, b);
      case Operation::shift_right:
        return this->shift_right(a, b);
      case Operation::bit_and:
        return this->bit_and(a, b);
      case Operation::bit_or:
        return this->bit_or(a, b);
      case Operation::bit_xor:
        return this->bit_xor(a, b);
      case Operation::minimum:
        return this->minimum(a, b);
      case Operation::maximum:
        return this->maximum(a, b);
      default:
        return boolean(holds(operation, a, b));
    }
  }

 private:
  static Value boolean(bool value) { return Base::from(value ? 1 : 0); }
  static bool holds(Operation comparison, Value a, Value b) {
    const std::strong_ordering order = Base::compare(a, b);
    switch (comparison) {
      case Operation::less:
        return order < 0;
      case Operation::less_equal:
        return order <= 0;
      case Operation::greater:
        return order > 0;
      case Operation::greater_equal:
        return order >= 0;
      case Operation::equal:
        return order == 0;
      default:
        return order != 0;
    }
  }
  std::int64_t shift_count(Value b) {
    const std::int64_t count = this->integer(b);
    return count >= 0 && count < 64 ? count : this->fail(Fault::domain);
  }
};

}  // namespace tuner::space
