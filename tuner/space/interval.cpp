// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/interval.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace tuner::space {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kLowest = std::numeric_limits<std::int64_t>::min();
constexpr Wide kHighest = std::numeric_limits<std::int64_t>::max();

/// A value beyond 64 bits is a fault, so the interval ends there.
Interval between(Wide low, Wide high, bool may_fault) {
  const bool overflows = low < kLowest || high > kHighest;
  return {static_cast<std::int64_t>(std::clamp(low, kLowest, kHighest)),
          static_cast<std::int64_t>(std::clamp(high, kLowest, kHighest)), may_fault || overflows};
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Wide ceil_quotient(Wide a, Wide b) {
  return -floor_quotient(-a, b);
}

/// For operations that rise or fall in each operand: the extremes lie in the corners.
template <class Lower, class Upper>
Interval corners(Interval a, Interval b, Lower lower, Upper upper, bool may_fault) {
  Wide low = lower(a.low, b.low);
  Wide high = upper(a.low, b.low);
  for (const auto& [x, y] :
       std::array<std::array<Wide, 2>, 3>{{{a.low, b.high}, {a.high, b.low}, {a.high, b.high}}}) {
    low = std::min<Wide>(low, lower(x, y));
    high = std::max<Wide>(high, upper(x, y));
  }
  return between(low, high, may_fault);
}

Interval sum(Interval a, Interval b, bool may_fault) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  if (__builtin_add_overflow(a.low, b.low, &low) || __builtin_add_overflow(a.high, b.high, &high)) {
    return between(Wide{a.low} + b.low, Wide{a.high} + b.high, may_fault);
  }
  return {low, high, may_fault};
}

Interval product(Interval a, Interval b, bool may_fault) {
  std::int64_t high = 0;
  const bool rises = a.low >= 0 && b.low >= 0;  // as nearly always
  if (rises && !__builtin_mul_overflow(a.high, b.high, &high)) {
    return {a.low * b.low, high, may_fault};
  }
  const auto times = [](Wide x, Wide y) { return x * y; };
  return corners(a, b, times, times, may_fault);
}

Interval quotient(Operation operation, Interval a, Interval b, bool may_fault) {
  if (b.low <= 0 && b.high >= 0) return {};
  const bool rises = a.low >= 0 && b.low > 0;  // as nearly always
  if (rises && operation == Operation::floor_divide) {
    return {a.low / b.high, a.high / b.low, may_fault};
  }
  if (rises && operation == Operation::ceil_divide) {
    const auto ceiling = [](std::int64_t x, std::int64_t y) {
      return x / y + (x % y != 0 ? 1 : 0);
    };
    return {ceiling(a.low, b.high), ceiling(a.high, b.low), may_fault};
  }
  switch (operation) {
    case Operation::floor_divide:
      return corners(a, b, floor_quotient, floor_quotient, may_fault);
    case Operation::ceil_divide:
      return corners(a, b, ceil_quotient, ceil_quotient, may_fault);
    default:  // a fraction, which not every operation takes
      return corners(a, b, floor_quotient, ceil_quotient, true);
  }
}

Interval remainder(Interval a, Interval b, bool may_fault) {
  if (b.low <= 0) return {};
  if (a.low >= 0 && a.high < b.low) return {a.low, a.high, may_fault};
  // Below b, which for a fraction may be less than 1 below.
  return {0, may_fault ? b.high : b.high - 1, may_fault};
}

Interval shifted(Operation operation, Interval a, Interval b, bool may_fault) {
  constexpr std::int64_t kLongest = 62;
  if (b.low < 0 || b.high > kLongest) return {};
  const auto left = [](Wide x, Wide y) { return x * (Wide{1} << static_cast<int>(y)); };
  const auto right = [](Wide x, Wide y) { return x >> static_cast<int>(y); };
  return operation == Operation::shift_left ? corners(a, b, left, left, may_fault)
                                            : corners(a, b, right, right, may_fault);
}

Interval truth(bool certainly, bool possibly, bool may_fault) {
  return {certainly ? 1 : 0, possibly ? 1 : 0, may_fault};
}

Interval comparison(Operation operation, Interval a, Interval b, bool may_fault) {
  const bool meet = a.low <= b.high && b.low <= a.high;
  const bool one = a.low == a.high && a.low == b.low && b.low == b.high;
  switch (operation) {
    case Operation::less:
      return truth(a.high < b.low, a.low < b.high, may_fault);
    case Operation::less_equal:
      return truth(a.high <= b.low, a.low <= b.high, may_fault);
    case Operation::greater:
      return truth(a.low > b.high, a.high > b.low, may_fault);
    case Operation::greater_equal:
      return truth(a.low >= b.high, a.high >= b.low, may_fault);
    case Operation::equal:
      return truth(one, meet, may_fault);
    default:
      return truth(!meet, !one, may_fault);
  }
}

Interval absolute(Interval a) {
  const Wide low = a.low;
  const Wide high = a.high;
  if (low >= 0) return a;
  if (high <= 0) return between(-high, -low, a.may_fault);
  return between(0, std::max(-low, high), a.may_fault);
}

Interval logarithm(Interval a) {
  if (a.low < 1) return {0, 62, true};
  const auto floor_log2 = [](std::int64_t value) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
  };
  return {floor_log2(a.low), floor_log2(a.high), a.may_fault};
}

}  // namespace

Interval apply(Operation operation, Interval a) {
  switch (operation) {
    case Operation::negate:
      return between(-Wide{a.high}, -Wide{a.low}, a.may_fault);
    case Operation::absolute:
      return absolute(a);
    case Operation::logical_not:
      return truth(a.is_false(), a.low <= 0 && a.high >= 0, a.may_fault);
    case Operation::truth:
      return truth(a.low > 0 || a.high < 0, !a.is_false(), a.may_fault);
    case Operation::is_power_of_two:
      return {0, 1, a.may_fault};
    case Operation::log2:
      return logarithm(a);
    default:
      return {};
  }
}

Interval apply(Operation operation, Interval a, Interval b) {
  const bool may_fault = a.may_fault || b.may_fault;
  switch (operation) {
    case Operation::add:
      return sum(a, b, may_fault);
    case Operation::subtract:
      return between(Wide{a.low} - b.high, Wide{a.high} - b.low, may_fault);
    case Operation::multiply:
      return product(a, b, may_fault);
    case Operation::divide:
    case Operation::floor_divide:
    case Operation::ceil_divide:
      return quotient(operation, a, b, may_fault);
    case Operation::modulo:
      return remainder(a, b, may_fault);
    case Operation::shift_left:
    case Operation::shift_right:
      return shifted(operation, a, b, may_fault);
    case Operation::minimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high), may_fault};
    case Operation::maximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high), may_fault};
    default:
      return is_comparison(operation) ? comparison(operation, a, b, may_fault) : Interval{};
  }
}

Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.may_fault || b.may_fault};
}

}  // namespace tuner::space
