// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/epoch_reclaimer.hpp"
#include "tuner/dispatch/launch_plan.hpp"
#include "tuner/dispatch/trial_launches.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tuner::dispatch {

/// What plans take at a size.
struct MeasuredPlans {
  std::vector<std::size_t> order;               ///< of those that ran, first the one to take
  std::vector<std::optional<double>> times_ns;  ///< of a launch, by plan; none: it did not run
  bool is_complete = true;                      ///< none failed
  std::size_t rounds = 0;
  std::size_t in_graphs = 0;  ///< so many of `order`, from the first on, have their times of graphs
};

/// Times plans of one family and size side by side: series of launches back to back, each launch on
/// buffers that the second cache does not hold, in rounds of shuffled order. A plan that is
/// certainly slower than another is not timed further (PlanRounds); the others are until they are
/// decided or 15 ms are over. Where the device has graphs, up to three that are then faster than
/// the library are timed beside it in graphs for up to 10 ms more, which decides between them.
/// Plans that are behind in `plans` may be left out where launches take
/// long. `library`: which of them is the library by its own choice. Fails where the device does.
[[nodiscard]] Expected<MeasuredPlans, Failure> measure_plans(backend::Executor& executor,
                                                             EpochReclaimer& reclaimer,
                                                             const TrialLaunches& launches,
                                                             std::span<const LaunchPlan> plans,
                                                             std::optional<std::size_t> library);

}  // namespace tuner::dispatch
