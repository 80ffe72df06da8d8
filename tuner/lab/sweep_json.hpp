// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/lab/sweep.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::lab {

/// A sweep on one device with what it was run on.
struct SweepSide {
  std::string name;  ///< "CPU", "GPU"
  space::DeviceInfo device;
  space::EnvironmentInfo environment;
  worker::StartUp start_up;
  double timestamp_mhz = 0;  ///< of the processor's time-stamp counter; 0: not known, or a GPU
  SweepResult result;
};

/// A sweep on all its devices.
struct SweepReport {
  const family::Family& family;
  const std::vector<space::Size>& sizes;
  const std::vector<Placement>& placements;
  int vector_bits = 0;  ///< of the processor
  std::vector<SweepSide> sides;
  std::optional<SweepSide> bound;  ///< of the space file of --bound
};

/// The document "tune.sweep/2":
///
///   { "schema": "tune.sweep/2", "family", "measured_at": "2026-11-23", "vector_bits", "agree",
///     "sizes": [{ "size", "label", "flops", "bytes" }…],
///     "placements": [{ "name", "places": { BUFFER: "pageable" | "pinned" | "mapped" } }…],
///     "sides": [{ "name", "device", "backend", "cores", "driver", "compiler", "library",
///       "start_up": { "device_ms", "library_ms", "peak_bytes_per_s" },
///       "times": [{ "contender", "size", "outcome", "message", "kernel", "config",
///                   "compile_ms", "worst_error", "median_ns", "q1_ns", "q3_ns", "samples",
///                   "flops_per_s", "bytes_per_s", "cycles",
///                   "of_peak", "of_bound" }…],
///       "transfers": [{ "contender", "size", "placement", "outcome", "message", "allocate_ns",
///                   "to_device_ns", "kernel_ns", "to_host_ns", "free_ns", "total_ns",
///                   "pin_ns" }…],
///       "skipped": [{ "contender", "placement", "size", "why" }…] }…],
///     "bound": as one of "sides", or null,
///     "comparisons": [{ "of", "between": [NAME, NAME],
///                       "leads": [{ "faster", "first", "last" }…] }…] }
///
/// `size`, `first` and `last` index `sizes`; `faster` is one of the two or kNeither. The last of
/// `sides` is the device. What did not end ok has no times. `cycles` are of the multiprocessors'
/// clock, on a processor of its time-stamp counter; absent where unknown. `of_peak` is the share of
/// the memory's peak rate, `of_bound` of the fastest of `bound` at the size. `pin_ns` is what
/// allocating the host's pinned memory takes, not part of the total. In `skipped`, an empty
/// contender means all, an empty placement the contender and not only its transfers. `compile_ms`
/// is 0 where the code was compiled for an earlier size. `agree` says whether the results on whole
/// numbers were the same on both sides; null where there is one.
[[nodiscard]] Json sweep_json(const SweepReport& report);

}  // namespace tuner::lab
