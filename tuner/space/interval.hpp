// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/bytecode.hpp"

#include <cstdint>
#include <limits>

namespace tuner::space {

/// What is known of a value that is not known yet: if it comes out at all, it is at least `low` and
/// at most `high` (fractions lie between, too). The bounds may be too wide, never too narrow.
struct Interval {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  bool may_fault = true;

  [[nodiscard]] static constexpr Interval exactly(std::int64_t value) {
    return {value, value, false};
  }
  /// It comes out and is not 0.
  [[nodiscard]] constexpr bool is_true() const { return !may_fault && (low > 0 || high < 0); }
  /// It is 0 if it comes out.
  [[nodiscard]] constexpr bool is_false() const { return low == 0 && high == 0; }
};

/// The interval of an operation's results. Operations about which little can be said give all
/// numbers.
[[nodiscard]] Interval apply(Operation operation, Interval a);
[[nodiscard]] Interval apply(Operation operation, Interval a, Interval b);

/// The smallest interval around both.
[[nodiscard]] Interval hull(Interval a, Interval b);

}  // namespace tuner::space
