// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner::measure {

/// How far a device may drift before what it measured meanwhile is measured again.
inline constexpr double kMostDrift = 0.02;

/// By how much the same work takes longer than it did at first: 0.03 is 3 % slower.
[[nodiscard]] constexpr double drift(double baseline_ns, double now_ns) {
  return now_ns / baseline_ns - 1;
}

/// Whether times taken since the canary was last timed do not compare with those before: it takes
/// more than kMostDrift longer, or less, than its baseline.
[[nodiscard]] constexpr bool has_drifted(double baseline_ns, double now_ns) {
  const double change = drift(baseline_ns, now_ns);
  return change > kMostDrift || change < -kMostDrift;
}

}  // namespace tuner::measure
