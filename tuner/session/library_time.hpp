// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/measure/statistics.hpp"
#include "tuner/worker/device_worker.hpp"

#include <optional>

namespace tuner::session {

/// What the library takes at a size.
struct LibraryTime {
  TimeSummary time;
  std::optional<double> clock_mhz = {};
};

/// As a candidate is screened: warmed up, then timed from a cold cache. None where the family's
/// reference is not of a library.
[[nodiscard]] Expected<std::optional<LibraryTime>, Failure> time_library(
    worker::DeviceWorker& device, const space::Size& size);

/// Nanoseconds of one execution by the library, back to back, after time_library() of the size.
/// None where executions one after another cannot be timed.
[[nodiscard]] Expected<std::optional<double>, Failure> time_library_series(
    worker::DeviceWorker& device);

}  // namespace tuner::session
