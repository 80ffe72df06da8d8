// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/core/trial_result.hpp"

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

/// `implausible` when single launches from a cold cache took less than a third of launches one
/// after another, by the faster of hot and series: a cold launch has all their work and more misses
/// in caches, and clocks under load fall by less than a factor of 2. Absent when plausible, or when
/// not both were timed.
[[nodiscard]] std::optional<Failure> contradiction(const Timing& timing);

}  // namespace tuner::measure
