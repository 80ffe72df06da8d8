// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/core/record.hpp"
#include "tuner/core/time_summary.hpp"

#include <optional>
#include <string>

namespace tuner {

/// The times of one piece of work, and how its samples were taken.
struct Timing {
  std::optional<TimeSummary> time;  ///< absent: it was not timed
  std::optional<double> hot_ns;     ///< a run with its data in the cache, where it was timed
  std::optional<double> series_ns;  ///< a run of series with data in memory, where it was timed
  std::optional<double> clock_mhz;  ///< median over the samples, where the device tells
  int discarded = 0;                ///< samples thrown away because the clock had fallen
  bool power_capped = false;        ///< samples count although the power limit held the clock

  void forget_times() { *this = Timing(); }
};

/// What became of a trial: the device that ran it, the row of the database and reports share it.
struct TrialResult : Timing {
  Outcome outcome = Outcome::ok;  ///< `time` is there only when it is `ok`
  std::string message;            ///< why it is not `ok`; empty when it is
  std::optional<double>
      worst_error;       ///< the largest error as a share of its bound; NaN becomes absent
  double verify_ms = 0;  ///< loading the kernel included
  double measure_ms = 0;

  static constexpr auto fields() {
    return std::tuple(
        Field("outcome", &TrialResult::outcome), Field("message", &TrialResult::message),
        Field("time", &TrialResult::time), Field("worst_error", &TrialResult::worst_error),
        Field("verify_ms", &TrialResult::verify_ms), Field("measure_ms", &TrialResult::measure_ms),
        Field("hot_ns", &TrialResult::hot_ns), Field("series_ns", &TrialResult::series_ns),
        Field("clock_mhz", &TrialResult::clock_mhz), Field("discarded", &TrialResult::discarded),
        Field("power_capped", &TrialResult::power_capped));
  }
};

}  // namespace tuner
