// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <optional>

namespace tuner::measure {

/// What a problem makes a kernel do at the least.
struct Demand {
  double flops = 0;
  double bytes = 0;  ///< to and from memory, each once
  ElementType type;  ///< that the peak of operations is of
};

/// `implausible`, with the rate and the peak, when work done in `time_ns` from a cold cache would
/// exceed 1.05 × a peak: then it did not do all of its work, or the clock is wrong. The bytes are
/// counted less the `l2_bytes` that may wait in the cache to be written. Absent when plausible.
[[nodiscard]] std::optional<Failure> implausible(const Demand& demand, double time_ns,
                                                 const backend::Peak& peak, double l2_bytes);

}  // namespace tuner::measure
