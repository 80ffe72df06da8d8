// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/sweep.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// A sweep on one device with what it was run on.
struct SweepSide {
  std::string name;  ///< "CPU", "GPU"
  space::DeviceInfo device;
  space::EnvironmentInfo environment;
  worker::StartUp start_up;
  session::SweepResult result;
};

/// A sweep on all its devices.
struct SweepReport {
  const family::Family& family;
  const std::vector<space::Size>& sizes;
  const std::vector<session::Placement>& placements;
  int vector_bits = 0;  ///< of the processor
  std::vector<SweepSide> sides;
};

/// The document "tune.sweep/1":
///
///   { "schema": "tune.sweep/1", "family", "vector_bits", "agree",
///     "sizes": [{ "size", "label", "flops", "bytes" }…],
///     "placements": [{ "name", "places": { BUFFER: "pageable" | "pinned" | "mapped" } }…],
///     "sides": [{ "name", "device", "backend", "cores", "driver", "compiler", "library",
///       "start_up": { "device_ms", "library_ms" },
///       "times": [{ "contender", "size", "outcome", "message", "kernel", "config",
///                   "compile_ms", "worst_error", "median_ns", "q1_ns", "q3_ns", "samples" }…],
///       "trips": [{ "contender", "size", "placement", "outcome", "message",
///                   "to_device_ns", "kernel_ns", "to_host_ns", "total_ns" }…] }…],
///     "comparisons": [{ "of", "between": [NAME, NAME],
///                       "leads": [{ "faster", "first", "last" }…] }…] }
///
/// `size`, `first` and `last` index `sizes`. The last of `sides` is the device. What did not end ok
/// has no times. `compile_ms` is 0 where the code was compiled for an earlier size. `agree` says
/// whether the results on whole numbers were the same on both sides; null where there is one.
[[nodiscard]] Json sweep_json(const SweepReport& report);
/// The same for people: times by contender and size, the trips, the start-up, who leads where.
[[nodiscard]] std::string sweep_text(const Json& sweep);

}  // namespace tuner::cli
