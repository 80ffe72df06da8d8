// SPDX-License-Identifier: Apache-2.0
// What the stages return, as the rows of the database hold it.
#pragma once

#include "tuner/measure/statistics.hpp"
#include "tuner/store/records.hpp"
#include "tuner/worker/device_worker.hpp"

namespace tuner {

[[nodiscard]] TimeRecord time_record(const Summary& summary);

/// Takes the outcome, the times and the resources of an evaluation into a trial.
/// `dynamic_shared_bytes` is what the launch asked for beside the kernel's own.
[[nodiscard]] TrialRecord with_evaluation(TrialRecord trial, const TrialResult& evaluation,
                                          std::uint64_t dynamic_shared_bytes);

/// A trial that ended before anything ran.
[[nodiscard]] TrialRecord with_failure(TrialRecord trial, const Failure& failure);

}  // namespace tuner
