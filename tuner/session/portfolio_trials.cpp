// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/portfolio_trials.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/trial_record.hpp"

#include <set>
#include <utility>

namespace tuner::session {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

PortfolioTrials::PortfolioTrials(const family::Family& family, const family::Kernel& kernel,
                                 const PortfolioPlan& plan, worker::DeviceWorker& device,
                                 worker::CompilePool& pool, store::Store& store)
    : kernel_(kernel),
      plan_(plan),
      device_(device),
      pool_(pool),
      store_(store),
      subject_{.device = device.device(),
               .environment = device.environment(),
               .kernel = kernel_record(family, kernel),
               .check_hash = family::check_hash(family, kernel)},
      began_(plan.now()) {}

const std::map<std::string, store::TrialRecord>& PortfolioTrials::known(const space::Size& size) {
  const std::string problem = space::canonical_size(size, kernel_.space->dims);
  const auto [at, added] = known_.try_emplace(problem);
  if (added) at->second = store_.known_trials(subject_, problem);
  return at->second;
}

std::shared_future<worker::Compiled> PortfolioTrials::compile_ahead(const space::Size& size,
                                                                    const space::Config& config) {
  if (known(size).contains(space::canonical_json(*kernel_.space, config))) return {};
  try {
    return pool_.submit(family::compile_job(kernel_, space_at(size), config));
  } catch (const Error&) {
    return {};
  }
}

store::TrialRecord PortfolioTrials::trial(const space::Size& size, const space::Config& config,
                                          std::optional<double> best_ns) {
  const std::string json = space::canonical_json(*kernel_.space, config);
  const auto& known_here = known(size);
  if (const auto found = known_here.find(json); found != known_here.end()) return found->second;
  begin();
  ++count_;
  store::TrialRecord trial = judged(size, config, json, best_ns);
  store_.record_trial(run_, trial, Seconds(plan_.now() - began_).count());
  if (trial.outcome != Outcome::quarantined) {
    guard_->ended(0, json, trial.outcome, trial.message);
  }
  known_[trial.problem][json] = trial;
  return trial;
}

void PortfolioTrials::end(store::RunState state) {
  if (!guard_) return;
  store::RunRecord run;
  run.state = state;
  run.wall_s = Seconds(plan_.now() - began_).count();
  run.respawns = device_.respawns();
  store_.end_run(run_, run);
  guard_.reset();
}

void PortfolioTrials::begin() {
  if (guard_) return;
  store::RunRecord run;
  run.uuid = new_uuid();
  for (const std::vector<space::Size>* sizes : {&plan_.sizes, &plan_.further}) {
    for (const space::Size& size : *sizes) {
      run.problems.push_back(space::canonical_size(size, kernel_.space->dims));
    }
  }
  run.strategy = "portfolio";
  run.seed = plan_.seed;
  run.command = plan_.command;
  run.valid = run.cartesian = 1;
  run_ = store_.begin_run(subject_, run);
  guard_ =
      std::make_unique<FaultGuard>(store_, subject_, run_, [] { return std::set<std::size_t>{0}; });
}

store::TrialRecord PortfolioTrials::judged(const space::Size& size, const space::Config& config,
                                           const std::string& json, std::optional<double> best_ns) {
  const space::BoundDefinition space = space_at(size);
  store::TrialRecord trial;
  trial.problem = space::canonical_size(size, kernel_.space->dims);
  trial.config_json = json;
  trial.check_seed = plan_.seed;
  if (guard_->quarantined(0, json)) {
    return with_failure(std::move(trial), {Outcome::quarantined, "it has crashed or hung before"});
  }
  std::optional<backend::Binary> binary;
  try {
    family::CompileJob job = family::compile_job(kernel_, space, config);
    const std::string key = job.key;
    const worker::Compiled compiled = pool_.submit(std::move(job)).get();
    if (pool_.count_once(key)) trial.compile_ms = compiled.compile_ms;
    if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
    binary = *compiled.binary;
  } catch (const Error& error) {
    // A value that the entry or the options need does not exist for this configuration.
    return with_failure(std::move(trial), {Outcome::compile_error, error.what()});
  }
  store_.begin_attempt(run_, {.problem = trial.problem, .config_json = json});
  const worker::EvaluatedCandidate evaluation = device_.evaluate(
      {.kernel = kernel_, .space = space, .config = config, .binary = *std::move(binary)}, size,
      best_ns);
  return with_evaluation(std::move(trial), evaluation, kernel_, space.expression_values(config));
}

}  // namespace tuner::session
