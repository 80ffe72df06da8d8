// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/core/trial_result.hpp"
#include "tuner/measure/clock_watch.hpp"
#include "tuner/measure/launch_audit.hpp"
#include "tuner/measure/statistics.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace tuner::measure {

/// A timing with the samples that count, in nanoseconds, in the order taken. `time` is there.
struct Measurement : Timing {
  std::vector<double> samples_ns;
};

/// How a candidate is screened: a few samples tell whether it is worth more.
/// docs/reference/measurement.md says where the numbers come from.
struct ScreenPlan {
  double warm_up_ns = 1e6;  ///< runs before the first sample: at least one, and for so long
  int probe_samples = 5;
  int full_samples = 20;
  double hopeless_factor = 1.5;   ///< a probe whose minimum exceeds this × the best is enough
  double contender_factor = 1.1;  ///< a median within this × the best is worth being sure of
  double spreads = 3;  ///< a minimum that many of the probe's spreads beyond that is enough too
  double target_error = 0.005;  ///< the relative error of a contender's median that is enough
  int step_samples = 16;        ///< by which a contender's samples grow until then
  int most_samples = 100;
  double most_sampling_ns = 2e8;  ///< sum of samples after which there are no more than the probe's
  std::chrono::milliseconds pause{50};  ///< after samples at a fallen clock; doubles four times
  /// Also times runs back to back, in series and hot, which find what the one before them left.
  bool back_to_back = true;
  int hot_repetitions = 8;      ///< at most, each after a pause, while they contradict the samples
  double series_factor = 1.25;  ///< a median within this × the best is worth series
  double most_series_ns = 1e6;  ///< longer work ranks in series as alone
  int series = 3;
};

/// Times a candidate that was verified: the probe; the full number of samples, or as many as there
/// is time for, unless it is hopeless beside `best_ns`, the best median so far; and more while it
/// is a contender and its median is uncertain. Samples at a fallen clock are taken again, unless
/// the device says that its power limit is the reason: then they show how the candidate runs. When
/// three times as many are discarded as are kept, `watch` takes the clock as it is and all begins
/// anew, once; then it is `unstable`. What is nearly as fast as the best, or faster, is also timed
/// in series and hot. `audit` prepares every launch and may find one wrong. Fails otherwise as
/// Backend::time does.
[[nodiscard]] Expected<Measurement, Failure> screen(backend::Backend& backend,
                                                    const backend::Work& work, LaunchAudit& audit,
                                                    const ScreenPlan& plan,
                                                    std::optional<double> best_ns,
                                                    ClockWatch& watch);

}  // namespace tuner::measure
