// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/record.hpp"

namespace tuner {

/// What repeated timings of the same work gave, in nanoseconds: quartiles and the shortest.
struct TimeSummary {
  double median_ns = 0, q1_ns = 0, q3_ns = 0, min_ns = 0;
  int samples = 0;

  static constexpr auto fields() {
    return std::tuple(Field("median_ns", &TimeSummary::median_ns),
                      Field("q1_ns", &TimeSummary::q1_ns), Field("q3_ns", &TimeSummary::q3_ns),
                      Field("min_ns", &TimeSummary::min_ns),
                      Field("samples", &TimeSummary::samples));
  }
};

}  // namespace tuner
