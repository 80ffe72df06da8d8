// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_runner.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/session/trial_record.hpp"

namespace tuner::session {

JudgedTrial TrialRunner::judge(const Pending& pending) {
  const bool runs = will_run(pending);
  if (runs) shared_.store.begin_attempt(shared_.run, attempt(pending));
  provisional_.push_back({.search = pending.search, .config = pending.config});
  JudgedTrial judged{.trial = trial_of(pending), .ran = runs};
  failpoint("session.trial_judged");
  compile_s_ += judged.trial.compile_ms / 1e3;
  verify_s_ += judged.trial.verify_ms / 1e3;
  measure_s_ += judged.trial.measure_ms / 1e3;
  return judged;
}

CommittedTrial TrialRunner::commit(const Pending& pending, JudgedTrial judged,
                                   const Pending* next) {
  const bool next_runs = next != nullptr && next->known() == nullptr && will_run(*next);
  shared_.store.record_trial(shared_.run, judged.trial, shared_.clock(),
                             next_runs ? std::optional(attempt(*next)) : std::nullopt);
  CommittedTrial committed{.trial = std::move(judged.trial)};
  committed.fastest = pending.search->record(pending.config, committed.trial);
  // What was not run because of those that died in a row is as provisional as their crashes.
  if (judged.ran) {
    tell_guard(committed.trial);
  } else if (committed.trial.outcome != Outcome::quarantined || provisional_.size() == 1) {
    provisional_.pop_back();
  }
  return committed;
}

void TrialRunner::tell_guard(const store::TrialRecord& trial) {
  shared_.guard.ended(card_, trial.config_json, trial.outcome, trial.message);
  if (!is_death(trial.outcome)) provisional_.clear();
}

CommittedTrial TrialRunner::record_failure(SizeSearch& search, const space::Config& config,
                                           const Failure& failure) {
  store::TrialRecord trial = search.trial(config);
  provisional_.push_back({.search = &search, .config = config, .before = trial});
  trial.forget_times();
  trial = with_failure(std::move(trial), failure);
  trial.message += " (in the final)";
  shared_.store.record_trial(shared_.run, trial, shared_.clock());
  CommittedTrial committed{.trial = std::move(trial)};
  committed.fastest = search.record(config, committed.trial);
  tell_guard(committed.trial);
  return committed;
}

void TrialRunner::give_up() {
  for (const Provisional& each : provisional_) {
    if (!each.search->is_closed()) {
      each.search->ask_again(each.config);
    } else if (each.before) {
      shared_.store.record_trial(shared_.run, *each.before, shared_.clock());
      each.search->record(each.config, *each.before);
    }
  }
  provisional_.clear();
}

std::string TrialRunner::caution(const space::Size& size) const {
  const auto known = cautions_.find(size);
  return known == cautions_.end() ? "" : known->second;
}

store::AttemptRecord TrialRunner::attempt(const Pending& pending) const {
  return {.problem = space::canonical_size(pending.search->size(), shared_.kernel.space->dims),
          .config_json = pending.config_json};
}

/// Whether a candidate, whose compilation is over, gets onto the device.
bool TrialRunner::will_run(const Pending& pending) const {
  return pending.compiled.valid() && pending.compiled.get().binary.has_value() &&
         !shared_.guard.quarantined(card_, pending.config_json);
}

store::TrialRecord TrialRunner::trial_of(const Pending& pending) {
  store::TrialRecord trial;
  trial.problem = space::canonical_size(pending.search->size(), shared_.kernel.space->dims);
  trial.config_json = pending.config_json;
  trial.check_seed = shared_.seed;
  if (pending.refused) return with_failure(std::move(trial), *pending.refused);
  const worker::Compiled& compiled = pending.compiled.get();
  // What several sizes share is counted where it was first used.
  if (shared_.pool.count_once(pending.compile_key)) trial.compile_ms = compiled.compile_ms;
  if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
  if (shared_.guard.quarantined(card_, trial.config_json)) {
    return with_failure(std::move(trial),
                        {Outcome::quarantined,
                         "it has crashed or hung before: `tune quarantine list` says how, `tune "
                         "quarantine clear` lets it run again"});
  }
  return evaluated(std::move(trial), pending);
}

store::TrialRecord TrialRunner::evaluated(store::TrialRecord trial, const Pending& pending) {
  const SizeSearch& search = *pending.search;
  const worker::EvaluatedCandidate evaluation =
      device_.evaluate({.kernel = shared_.kernel,
                        .space = search.space(),
                        .config = pending.config,
                        .binary = *pending.compiled.get().binary},
                       search.size(), search.best_ns());
  if (!evaluation.caution.empty()) cautions_[search.size()] = evaluation.caution;
  if (evaluation.coverage) shared_.covered(*evaluation.coverage);
  return with_evaluation(std::move(trial), evaluation, shared_.kernel,
                         search.space().expression_values(pending.config));
}

}  // namespace tuner::session
