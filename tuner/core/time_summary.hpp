// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner {

/// What repeated timings of the same work gave, in nanoseconds: quartiles and the shortest.
struct TimeSummary {
  double median_ns = 0, q1_ns = 0, q3_ns = 0, min_ns = 0;
  int samples = 0;
};

}  // namespace tuner
