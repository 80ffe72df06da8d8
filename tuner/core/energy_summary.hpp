// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/record.hpp"

#include <optional>

namespace tuner {

/// The energy that one run of a piece of work takes, of the whole device, idle power included: over
/// windows of many runs back to back, with the data in the cache as far as it fits.
struct EnergySummary {
  bool operator==(const EnergySummary&) const = default;

  double joules = 0;  ///< the median of the windows
  double min_joules = 0, max_joules = 0;
  int windows = 0;
  double watts = 0;                       ///< of the device during the windows
  std::optional<double> idle_watts = {};  ///< at rest, before

  static constexpr auto fields() {
    return std::tuple(
        Field("joules", &EnergySummary::joules), Field("min_joules", &EnergySummary::min_joules),
        Field("max_joules", &EnergySummary::max_joules), Field("windows", &EnergySummary::windows),
        Field("watts", &EnergySummary::watts), Field("idle_watts", &EnergySummary::idle_watts));
  }
};

}  // namespace tuner
