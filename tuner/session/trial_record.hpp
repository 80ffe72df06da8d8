// SPDX-License-Identifier: Apache-2.0
// What the stages return, as the rows of the database hold it.
#pragma once

#include "tuner/measure/statistics.hpp"
#include "tuner/store/records.hpp"
#include "tuner/worker/device_worker.hpp"

namespace tuner {

[[nodiscard]] TimeRecord time_record(const Summary& summary);

/// Takes the outcome, the times and the resources of an evaluation into a trial: of each resource
/// what the step uses that uses most of it. Of shared memory a step uses its own and, where it was
/// timed, what its launch asks for at the size that `slots` hold.
[[nodiscard]] TrialRecord with_evaluation(TrialRecord trial, const TrialResult& evaluation,
                                          const Kernel& kernel, const Slots& slots);

/// A trial that ended before anything ran.
[[nodiscard]] TrialRecord with_failure(TrialRecord trial, const Failure& failure);

}  // namespace tuner
