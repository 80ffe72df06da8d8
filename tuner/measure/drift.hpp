// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner::measure {

/// The drift of a device, as a share, beyond which what was measured meanwhile is repeated.
inline constexpr double kMostDrift = 0.02;

/// By how much the same work takes longer than it did at first: 0.03 is 3 % slower.
[[nodiscard]] constexpr double drift(double baseline_ns, double now_ns) {
  return now_ns / baseline_ns - 1;
}

/// Whether times taken since the last check cannot be compared with earlier ones: the same work now
/// takes more than kMostDrift longer, or less, than its baseline.
[[nodiscard]] constexpr bool has_drifted(double baseline_ns, double now_ns) {
  const double change = drift(baseline_ns, now_ns);
  return change > kMostDrift || change < -kMostDrift;
}

}  // namespace tuner::measure
