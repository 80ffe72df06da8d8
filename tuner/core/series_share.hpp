// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace tuner {

/// Makes times of a size's trials comparable: by launches back to back. Of a trial that was not
/// timed so, the single launch counts as much less as it is for the fastest back to back.
class SeriesShare {
 public:
  /// Takes note of a trial that ended `ok`: the median of single launches, and the time back to
  /// back if there is one, in nanoseconds. Returns whether the times of other trials changed.
  bool learn(double median_ns, std::optional<double> series_ns) {
    if (!series_ns || (fastest_ns_ && *series_ns >= *fastest_ns_)) return false;
    fastest_ns_ = series_ns;
    share_ = *series_ns / median_ns;
    return true;
  }
  /// What a trial is ranked by, in nanoseconds.
  [[nodiscard]] double ranking_ns(double median_ns, std::optional<double> series_ns) const {
    return series_ns.value_or(share_ * median_ns);
  }

 private:
  std::optional<double> fastest_ns_;
  double share_ = 1;
};

}  // namespace tuner
