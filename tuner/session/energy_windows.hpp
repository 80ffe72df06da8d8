// SPDX-License-Identifier: Apache-2.0
// The energy of the finalists of a size.
#pragma once

#include "tuner/core/energy_summary.hpp"
#include "tuner/session/side_by_side_timer.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tuner::session {

/// Whether final rounds measure energy, which takes some 7 s for each contender.
enum class EnergyChoice {
  when_short,  ///< of the two fastest finalists and the library, where the time is little
  always,      ///< of all finalists and the library
  never,
};

struct EnergyPlan {
  EnergyChoice choice = EnergyChoice::never;
  double most_s = 0;       ///< with when_short: the most that it may take
  std::uint64_t seed = 0;  ///< of the order of contenders
};

/// Called before the first window with the number of contenders and the seconds that they take.
using EnergyBegins = std::function<void(std::size_t contenders, double seconds)>;

/// A contender that failed under load.
struct LostUnderLoad {
  std::size_t contender = 0;
  Failure failure;
};

/// Of contenders that are on the device as they were timed: by contender, of three windows of 2 s
/// each, in an order shuffled anew. The power at rest is measured before. Empty where it is not
/// planned, the device does not tell or `stop` said so; absent of a contender that was left out.
[[nodiscard]] Expected<std::vector<std::optional<EnergySummary>>, LostUnderLoad> measure_energy(
    const SideBySideTimes& times, worker::DeviceWorker& device, const EnergyPlan& plan,
    const EnergyBegins& begins, const std::function<bool()>& stop);

}  // namespace tuner::session
