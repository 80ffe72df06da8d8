// SPDX-License-Identifier: Apache-2.0
// Module core: what every module may use: errors and results, element types, JSON, files, child
// processes, hashing. Depends on nothing else of tuner.
#pragma once

#include "tuner/core/record.hpp"

#include <optional>

namespace tuner {

/// What a device's clock cannot exceed, and what may hold it below that.
struct ClockLimit {
  bool operator==(const ClockLimit&) const = default;

  std::optional<double> max_clock_mhz = {};  ///< the highest of the multiprocessors
  std::optional<double> power_limit_w = {};

  static constexpr auto fields() {
    return std::tuple(Field("max_clock_mhz", &ClockLimit::max_clock_mhz),
                      Field("power_limit_w", &ClockLimit::power_limit_w));
  }
};

}  // namespace tuner
