// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_log.hpp"

namespace tuner {

void TrialLog::about_to_run(const AttemptRecord& attempt) {
  if (announced_ && announced_->problem == attempt.problem &&
      announced_->config_json == attempt.config_json) {
    return;
  }
  store_.begin_attempt(session_, attempt);
  announced_ = attempt;
}

void TrialLog::ended(const TrialRecord& trial, double elapsed_s,
                     const std::optional<AttemptRecord>& next) {
  store_.record_trial(session_, trial, elapsed_s, next);
  announced_ = next;
}

}  // namespace tuner
