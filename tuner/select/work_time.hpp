// SPDX-License-Identifier: Apache-2.0
// How long a launch takes by its work alone: what a model of gains (GainModel) starts from.
#pragma once

#include <span>

namespace tuner::select {

/// What a launch has to do.
struct Work {
  double flops = 0;  ///< all, were each multiprocessor as busy as the busiest one
  double bytes = 0;
};

/// A straight line through times: fixed, and so much for each operation and each byte. None is
/// negative, and at least one is positive.
struct WorkTime {
  double fixed_ns = 0, ns_per_flop = 0, ns_per_byte = 0;

  [[nodiscard]] double ns(const Work& work) const {
    return fixed_ns + ns_per_flop * work.flops + ns_per_byte * work.bytes;
  }
};

struct TimedWork {
  Work work;
  double ns = 0;  ///< positive
};

/// Least squares of relative errors, for at least one time. `others`, of launches of the kind,
/// count together as much as several times: a few times alone do not tell the three apart.
[[nodiscard]] WorkTime fit_work_time(std::span<const TimedWork> times,
                                     std::span<const TimedWork> others = {});

}  // namespace tuner::select
