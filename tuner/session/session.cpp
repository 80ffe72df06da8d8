// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/session/canary.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/fault_guard.hpp"
#include "tuner/session/final.hpp"
#include "tuner/session/kernel_record.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/session/progress_report.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/session/trial_record.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <random>
#include <utility>

namespace tuner {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Candidates on their way to the device for each that can compile at once: enough that no compiler
/// waits, and no more, since what is asked late is asked with more known.
constexpr std::size_t kAhead = 2;

std::string new_uuid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// One run of run_session: its parts, and the order in which they work.
class Run {
 public:
  Run(const Family& family, const Kernel& kernel, const SessionPlan& plan, DeviceWorker& device,
      const Compiler& compiler, Store& store, Observer& observer,
      const std::function<bool()>& interrupted)
      : family_(family),
        kernel_(kernel),
        plan_(plan),
        device_(device),
        store_(store),
        observer_(observer),
        interrupted_(interrupted),
        subject_{.device = device.device(),
                 .environment = device.environment(),
                 .kernel = kernel_record(family, kernel)},
        respawns_before_(device.respawns()),
        pool_(compiler, plan.compile_threads),
        pipeline_(kernel, searches_, pool_,
                  kAhead * static_cast<std::size_t>(plan.compile_threads) * plan.sizes.size()),
        progress_(family.problem, searches_, observer, plan.max_time, start_) {}

  SessionResult run() {
    look_for_others();
    store_.collect_dead_attempts();
    for (const Size& size : plan_.sizes) open_search(size);
    begin();
    try {
      search();
      failpoint("session.searched");
      for (SizeSearch& size_search : searches_) conclude(size_search);
    } catch (...) {
      end(SessionState::interrupted);
      throw;
    }
    end(interrupted_()          ? SessionState::interrupted
        : pipeline_.exhausted() ? SessionState::complete
                                : SessionState::budget_spent);
    return std::move(result_);
  }

 private:
  void open_search(const Size& size) {
    const std::string problem = canonical_size(size, family_.problem.dims);
    Space space(kernel_.space, device_.device().attributes, size);
    if (space.size() == 0) {
      throw Error(
          ErrorCode::no_valid_config,
          fmt::format("{}: kernel {} has no valid configuration on {} at {}; `tune space count` "
                      "shows which constraint removes them",
                      family_.path, kernel_.name, device_.device().name,
                      display(size, family_.problem.dims)));
    }
    PriorKnowledge prior{
        .incumbent = incumbent(store_, family_, kernel_, device_.device(), size),
        .winners_elsewhere = winners_elsewhere(store_, family_, kernel_, device_.device(), size)};
    if (plan_.resume == Resume::yes) prior.trials = store_.known_trials(subject_, problem);
    searches_.emplace_back(size, std::move(space), plan_.strategy, plan_.seed, std::move(prior),
                           plan_.max_evaluations);
  }

  void look_for_others() {
    const std::vector<int> others = device_.other_processes();
    result_.shared = !others.empty();
    if (others.empty() || plan_.shared_device == SharedDevice::accepted) return;
    throw Error(ErrorCode::no_device,
                fmt::format("{} is used by other processes ({} {}), and what is timed beside them "
                            "is not its own time: wait for them, take another GPU with --device, "
                            "or accept it with --allow-shared",
                            device_.device().name, others.size() == 1 ? "process" : "processes",
                            fmt::join(others, ", ")));
  }

  /// Asked now and then: a process may come after the run began.
  void watch_others() { result_.shared = result_.shared || !device_.other_processes().empty(); }

  void begin() {
    Opening opening{.kernel = &kernel_,
                    .device = device_.device(),
                    .environment = device_.environment(),
                    .cartesian = searches_.front().space().waterfall().cartesian,
                    .sizes = {},
                    .compile_threads = plan_.compile_threads};
    SessionRecord record;
    record.uuid = result_.uuid = new_uuid();
    for (const SizeSearch& search : searches_) {
      opening.sizes.push_back({.size = search.size(),
                               .valid = search.space().size(),
                               .planned = search.planned(),
                               .known = search.known_count()});
      record.problems.push_back(canonical_size(search.size(), family_.problem.dims));
      record.valid = std::max(record.valid, search.space().size());
    }
    record.cartesian = opening.cartesian;
    record.strategy = plan_.strategy;
    record.seed = plan_.seed;
    record.command = plan_.command;
    session_ = store_.begin_session(subject_, record);
    guard_.emplace(store_, subject_, session_);
    canary_.emplace(kernel_, searches_.front(), pool_, device_, store_, session_);
    observer_.opened(opening);
    failpoint("session.began");
  }

  void end(SessionState state) {
    result_.state = state;
    result_.wall_s = elapsed_s();
    result_.respawns = device_.respawns() - respawns_before_;
    result_.compile_threads = plan_.compile_threads;
    SessionRecord record;
    record.state = state;
    record.wall_s = result_.wall_s;
    record.compile_s = result_.compile_s;
    record.verify_s = result_.verify_s;
    record.measure_s = result_.measure_s;
    record.respawns = result_.respawns;
    record.shared = result_.shared;
    store_.end_session(session_, record);
    failpoint("session.ended");
  }

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(SteadyClock::now() - start_).count();
  }
  [[nodiscard]] bool stop() const {
    const bool out_of_time = plan_.max_time && SteadyClock::now() - start_ >= *plan_.max_time;
    return out_of_time || interrupted_();
  }

  [[nodiscard]] Budget budget() const {
    if (!plan_.max_time) return {};
    const double most_s = std::chrono::duration<double>(*plan_.max_time).count();
    return {.spent = most_s > 0 ? std::min(1.0, elapsed_s() / most_s) : 1.0};
  }

  void search() {
    while (!stop()) {
      const auto next = pipeline_.next([this] { return stop(); }, budget());
      if (!next) return;
      take(*next);
      if (canary_->due()) watch_drift();
    }
  }

  /// What was timed while the device drifted is timed again.
  void watch_drift() {
    watch_others();
    const auto start = SteadyClock::now();
    for (const Canary::Suspect& suspect : canary_->look(elapsed_s())) {
      pipeline_.again(*suspect.search, suspect.config);
      ++result_.requeued;
    }
    result_.measure_s += std::chrono::duration<double>(SteadyClock::now() - start).count();
  }

  void take(const Pending& pending) {
    SizeSearch& search = *pending.search;
    if (const TrialRecord* known = pending.known()) {
      const TrialRecord trial = *known;
      progress_.reused(search, trial, search.record(pending.config, trial));
      return;
    }
    const bool runs = will_run(pending);
    if (runs) store_.begin_attempt(session_, attempt(search, pending.config));
    const TrialRecord trial = judge(pending);
    failpoint("session.trial_judged");
    result_.compile_s += trial.compile_ms / 1e3;
    result_.verify_s += trial.verify_ms / 1e3;
    result_.measure_s += trial.measure_ms / 1e3;
    record(search, pending.config, trial);
    if (runs) guard_->ended(trial.config_json, trial.outcome, trial.message);
    if (trial.outcome == Outcome::ok) canary_->watch(search, pending.config);
  }

  [[nodiscard]] AttemptRecord attempt(const SizeSearch& search, const Config& config) const {
    return {.problem = canonical_size(search.size(), family_.problem.dims),
            .config_json = canonical_json(*kernel_.space, config)};
  }

  /// Whether a candidate, whose compilation is over, gets onto the device.
  [[nodiscard]] bool will_run(const Pending& pending) const {
    return pending.compiled.valid() && pending.compiled.get().binary.has_value() &&
           !guard_->quarantined(canonical_json(*kernel_.space, pending.config));
  }

  void record(SizeSearch& search, const Config& config, const TrialRecord& trial) {
    const Pending* next = stop() ? nullptr : pipeline_.peek();
    const bool next_runs = next != nullptr && next->known() == nullptr && will_run(*next);
    // Both in one transaction where one candidate follows another: a commit costs a disk write.
    store_.record_trial(
        session_, trial, elapsed_s(),
        next_runs ? std::optional(attempt(*next->search, next->config)) : std::nullopt);
    const bool fastest = search.record(config, trial);
    progress_.ran(search, trial, fastest);
    if (fastest) share(search, config);
    failpoint("session.trial_acknowledged");
  }

  /// What is fastest at one size is likely good at the others, and compiled already.
  void share(const SizeSearch& from, const Config& config) {
    for (SizeSearch& search : searches_) {
      if (&search != &from) search.suggest(config);
    }
  }

  TrialRecord judge(const Pending& pending) {
    const SizeSearch& search = *pending.search;
    TrialRecord trial;
    trial.problem = canonical_size(search.size(), family_.problem.dims);
    trial.config_json = canonical_json(*kernel_.space, pending.config);
    trial.check_seed = plan_.seed;
    if (pending.refused) return with_failure(std::move(trial), *pending.refused);
    const Compiled& compiled = pending.compiled.get();
    // Every size shares one compilation: it is counted where it was first used.
    if (counted_compilations_.insert(trial.config_json).second) {
      trial.compile_ms = compiled.compile_ms;
    }
    if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
    if (guard_->quarantined(trial.config_json)) {
      return with_failure(std::move(trial),
                          {Outcome::quarantined,
                           "it has crashed or hung before: `tune quarantine list` says how, `tune "
                           "quarantine clear` lets it run again"});
    }
    const Evaluation evaluation = device_.evaluate({.kernel = kernel_,
                                                    .space = search.space(),
                                                    .config = pending.config,
                                                    .binary = *compiled.binary},
                                                   search.size(), search.best_ns());
    // Only what was timed is known to have a legal launch.
    const std::uint64_t dynamic_shared_bytes =
        evaluation.time
            ? geometry(kernel_, search.space().slots(pending.config)).dynamic_shared_bytes
            : 0;
    return with_evaluation(std::move(trial), evaluation, dynamic_shared_bytes);
  }

  void conclude(SizeSearch& search) {
    std::optional<FinalOutcome> outcome = settle(search);
    failpoint("session.final_settled");
    SizeResult size_result{.size = search.size(),
                           .best = std::nullopt,
                           .finalists = {},
                           .winner_display = "",
                           .evaluated = search.recorded(),
                           .reused = progress_.reused(search),
                           .outcomes = search.outcomes()};
    if (outcome) {
      outcome->best.session_uuid = result_.uuid;
      size_result.winner_display = display(*kernel_.space, outcome->winner);
      // Without a final, or with others on the device, nothing says that it is better than what was
      // best before: that stays.
      watch_others();
      const bool compared = !outcome->finalists.empty() && !result_.shared;
      if (compared || !search.seeds().incumbent) {
        store_.record_final(session_, outcome->best, outcome->finalists);
      }
      size_result.best = std::move(outcome->best);
      size_result.finalists = std::move(outcome->finalists);
    }
    observer_.size_done(size_result);
    failpoint("session.final_acknowledged");
    result_.sizes.push_back(std::move(size_result));
  }

  /// The final at a size, held again without a contender that fell out of it; none when no
  /// configuration is left.
  std::optional<FinalOutcome> settle(SizeSearch& search) {
    Final final(family_, kernel_, pool_, device_);
    while (!search.ranking().empty()) {
      if (interrupted_()) return final.without_final(search);
      observer_.final_began(search.size(), Final::contenders(search).size());
      const auto start = SteadyClock::now();
      auto outcome = final.run(search, {.seed = plan_.seed}, interrupted_);
      result_.measure_s += std::chrono::duration<double>(SteadyClock::now() - start).count();
      if (outcome) return std::move(*outcome);
      drop(search, outcome.error());
    }
    return std::nullopt;
  }

  /// A contender that fell out of the final: that is how its trial ended after all. The library has
  /// no trial: it may fall out once, as when its process was killed from outside.
  void drop(SizeSearch& search, const LostContender& lost) {
    if (!lost.config) {
      if (!std::exchange(library_fell_out_, true)) return;
      throw Error(ErrorCode::failure,
                  fmt::format("the final at {} broke off: {} could not be timed: {}",
                              display(search.size(), family_.problem.dims),
                              device_.environment().library, lost.failure.message));
    }
    TrialRecord trial = search.trial(*lost.config);
    trial.time.reset();
    trial = with_failure(std::move(trial), lost.failure);
    trial.message += " (in the final)";
    record(search, *lost.config, trial);
    guard_->ended(trial.config_json, trial.outcome, trial.message);
  }

  const Family& family_;
  const Kernel& kernel_;
  const SessionPlan& plan_;
  DeviceWorker& device_;
  Store& store_;
  Observer& observer_;
  const std::function<bool()>& interrupted_;
  Subject subject_;
  int respawns_before_;
  SteadyClock::time_point start_ = SteadyClock::now();
  CompilePool pool_;
  std::deque<SizeSearch> searches_;
  Pipeline pipeline_;
  ProgressReport progress_;
  std::int64_t session_ = 0;
  // Once the session has begun:
  std::optional<FaultGuard> guard_;
  std::optional<Canary> canary_;
  std::set<std::string> counted_compilations_;
  bool library_fell_out_ = false;
  SessionResult result_;
};

}  // namespace

SessionResult run_session(const Family& family, const Kernel& kernel, const SessionPlan& plan,
                          DeviceWorker& device, const Compiler& compiler, Store& store,
                          Observer& observer, const std::function<bool()>& interrupted) {
  return Run(family, kernel, plan, device, compiler, store, observer, interrupted).run();
}

}  // namespace tuner
