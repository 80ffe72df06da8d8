// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/measure/statistics.hpp"

#include <optional>
#include <vector>

namespace tuner {

/// The times of one piece of work, in nanoseconds.
struct Measurement {
  std::vector<double> samples_ns;  ///< in the order taken
  Summary summary;                 ///< of samples_ns
};

/// How a candidate is screened: a few samples tell whether it is worth more.
struct ScreenPlan {
  int warm_up = 1;
  int probe_samples = 5;
  int full_samples = 20;
  double hopeless_factor = 1.5;  ///< a probe whose minimum exceeds this × the best is enough
};

/// Times a candidate that was verified: the probe, and the full number of samples unless it is
/// hopeless beside `best_ns`, the best median so far. Fails as Backend::time does.
[[nodiscard]] Expected<Measurement, Failure> screen(Backend& backend, const Work& work,
                                                    const ScreenPlan& plan,
                                                    std::optional<double> best_ns);

}  // namespace tuner
