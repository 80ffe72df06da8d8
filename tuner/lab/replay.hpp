// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/lab/score.hpp"
#include "tuner/search/strategy.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace tuner::lab {

/// A search to replay.
struct ReplayPlan {
  std::string strategy = {};
  std::uint64_t seed = 0;
  /// What it may cost: the recorded cost of what it tries and its own computing time.
  double most_s = std::numeric_limits<double>::infinity();
  std::optional<std::uint64_t> max_evaluations = {};
  /// How many configurations are asked for before the first of them is answered, as when compilers
  /// work ahead of the device. At least 1.
  std::size_t in_flight = 1;
};

struct Replay {
  Trace trace;
  double strategy_s = 0;  ///< the processor time of the strategy alone, which is part of the trace
};

/// Lets strategies search a recording as if it were the device: the answers are recorded, and so is
/// what getting them costs.
class Replayer {
 public:
  /// The recording must outlive it.
  explicit Replayer(const interop::Recording& recording);
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  /// The configurations of the recording.
  [[nodiscard]] const space::Space& space() const { return space_; }

  /// One run, until the costs or the evaluations are used up or the strategy asks no more. The
  /// answer that goes beyond the costs is the last. Asking for a configuration again costs nothing
  /// and is not in the trace. Which configurations are tried depends on the plan alone; how many
  /// also on the strategy's own time, unless `most_s` has no end. Throws Error(usage) for an
  /// unknown strategy. May be called by several threads at once.
  [[nodiscard]] Replay run(const ReplayPlan& plan) const;
  /// One run of a strategy of the caller's, new and of this space, whatever the plan names.
  [[nodiscard]] Replay run(search::Strategy& strategy, const ReplayPlan& plan) const;

 private:
  const interop::Recording& recording_;
  space::Space space_;
  std::vector<std::size_t> trial_at_;  // for each position of the space
  std::vector<double> costs_s_;        // of each trial
};

}  // namespace tuner::lab
