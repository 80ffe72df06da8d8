// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_record.hpp"

namespace tuner::session {

store::TrialRecord with_evaluation(store::TrialRecord trial, const worker::TrialResult& evaluation,
                                   const family::Kernel& kernel,
                                   const space::ExpressionValues& values) {
  trial.outcome = evaluation.outcome;
  trial.message = evaluation.message;
  if (evaluation.time) trial.time = *evaluation.time;
  trial.worst_error = evaluation.worst_error;
  for (std::size_t step = 0; step < evaluation.resources.size(); ++step) {
    const auto& [registers, static_shared_bytes, local_bytes] = evaluation.resources[step];
    // Only what was timed is known to have a legal launch.
    const std::uint64_t dynamic_shared_bytes =
        evaluation.time ? family::geometry(kernel, step, values).dynamic_shared_bytes : 0;
    trial.registers = std::max(trial.registers, registers);
    trial.shared_bytes = std::max(trial.shared_bytes, static_shared_bytes + dynamic_shared_bytes);
    trial.local_bytes = std::max<std::uint64_t>(trial.local_bytes, local_bytes);
  }
  trial.verify_ms = evaluation.verify_ms;
  trial.measure_ms = evaluation.measure_ms;
  trial.hot_ns = evaluation.hot_ns;
  trial.clock_mhz = evaluation.clock_mhz;
  trial.discarded = evaluation.discarded;
  trial.power_capped = evaluation.power_capped;
  return trial;
}

store::TrialRecord with_failure(store::TrialRecord trial, const Failure& failure) {
  trial.outcome = failure.outcome;
  trial.message = failure.message;
  return trial;
}

}  // namespace tuner::session
