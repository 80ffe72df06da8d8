// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_record.hpp"

namespace tuner::session {

store::TrialRecord with_evaluation(store::TrialRecord trial,
                                   const worker::EvaluatedCandidate& evaluation,
                                   const family::Kernel& kernel,
                                   const space::ExpressionValues& values) {
  TrialResult& result = trial;
  result = evaluation;
  for (std::size_t step = 0; step < evaluation.resources.size(); ++step) {
    const auto& [registers, static_shared_bytes, local_bytes] = evaluation.resources[step];
    // Only what was timed is known to have a legal launch.
    const std::uint64_t dynamic_shared_bytes =
        evaluation.time ? family::geometry(kernel, step, values).dynamic_shared_bytes : 0;
    trial.registers = std::max(trial.registers, registers);
    trial.shared_bytes = std::max(trial.shared_bytes, static_shared_bytes + dynamic_shared_bytes);
    trial.local_bytes = std::max<std::uint64_t>(trial.local_bytes, local_bytes);
  }
  return trial;
}

store::TrialRecord with_failure(store::TrialRecord trial, const Failure& failure) {
  trial.outcome = failure.outcome;
  trial.message = failure.message;
  return trial;
}

}  // namespace tuner::session
