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
  DeviceInfo device;
  EnvironmentInfo environment;
  StartUp start_up;
  SweepResult result;
};

/// A sweep on all its devices.
struct SweepReport {
  const Family& family;
  const std::vector<Size>& sizes;
  const std::vector<Placement>& placements;
  int vector_bits = 0;  ///< of the processor
  std::vector<SweepSide> sides;
};

/// The document "tune.sweep/1" (docs/howto/compare-cpu-and-gpu.md).
[[nodiscard]] Json sweep_json(const SweepReport& report);
/// The same for people: times by contender and size, the trips, the start-up, who leads where.
[[nodiscard]] std::string sweep_text(const Json& sweep);

}  // namespace tuner::cli
