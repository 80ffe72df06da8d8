// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/session/drift_monitor.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/final_round.hpp"
#include "tuner/session/kernel_record.hpp"
#include "tuner/session/other_processes.hpp"
#include "tuner/session/progress_report.hpp"
#include "tuner/session/size_schedule.hpp"
#include "tuner/session/trial_runner.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace tuner::session {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::string new_uuid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// One run of tune_kernel: its parts, and the order in which they work.
class Run {
 public:
  /// Begins the run in the database.
  Run(const family::Family& family, const family::Kernel& kernel, const RunPlan& plan,
      worker::DeviceWorker& device, const backend::Compiler& compiler, store::Store& store,
      Observer& observer, const std::function<bool()>& interrupted)
      : family_(family),
        kernel_(kernel),
        plan_(plan),
        device_(device),
        store_(store),
        observer_(observer),
        interrupted_(interrupted),
        subject_{.device = device.device(),
                 .environment = device.environment(),
                 .kernel = kernel_record(family, kernel),
                 .check_hash = family::check_hash(family, kernel)},
        respawns_before_(device.respawns()),
        others_(device, plan.shared_device),
        pool_(compiler, plan.compile_threads),
        schedule_(plan, kernel, pool_),
        run_(begin()),
        progress_(family.problem, schedule_.searches(), observer, plan, start_),
        runner_(kernel, device, store, subject_, run_, plan.seed, [this] { return elapsed_s(); }),
        final_round_(family, kernel, pool_, device, runner_, observer, interrupted),
        // A size of average work shows a drift of the device without taking seconds for it.
        drift_monitor_(kernel, schedule_.typical([&](const space::Size& size) {
          return family::flops_at(family.problem, size);
        }),
                       pool_, device, store, run_) {}

  RunResult run() {
    observer_.opened(opening());
    try {
      search();
      for (SizeSearch& rest : schedule_.searches()) {
        if (!results_.contains(&rest)) finish(rest);
      }
    } catch (...) {
      end(store::RunState::interrupted);
      throw;
    }
    end(interrupted_()                    ? store::RunState::interrupted
        : schedule_.searched_to_the_end() ? store::RunState::complete
                                          : store::RunState::budget_spent);
    for (const SizeSearch& search : schedule_.searches()) {
      result_.sizes.push_back(std::move(results_.at(&search)));
    }
    return std::move(result_);
  }

 private:
  /// Opens the searches and stores that the run has begun. Returns its number in the database.
  std::int64_t begin() {
    store_.collect_dead_attempts();
    for (const space::Size& size : plan_.sizes) add_search(size);
    store::RunRecord record;
    record.uuid = result_.uuid = new_uuid();
    for (const SizeSearch& search : schedule_.searches()) {
      record.problems.push_back(space::canonical_size(search.size(), family_.problem.dims));
      record.valid = std::max(record.valid, search.space().size());
    }
    record.cartesian = schedule_.searches().front().space().cartesian();
    record.strategy = plan_.strategy;
    record.seed = plan_.seed;
    record.command = plan_.command;
    const std::int64_t run = store_.begin_run(subject_, record);
    failpoint("session.began");
    return run;
  }

  void add_search(const space::Size& size) {
    const std::string problem = space::canonical_size(size, family_.problem.dims);
    space::Space space(kernel_.space, device_.device().attributes, size);
    if (space.size() == 0) {
      throw Error(
          ErrorCode::no_valid_config,
          fmt::format("{}: kernel {} has no valid configuration on {} at {}; `tune space count` "
                      "shows which constraint removes them",
                      family_.path, kernel_.name, device_.device().name,
                      space::display(size, family_.problem.dims)));
    }
    PriorKnowledge prior{
        .incumbent = incumbent(store_, family_, kernel_, device_.device(), size),
        .winners_elsewhere = winners_elsewhere(store_, family_, kernel_, device_.device(), size),
        .recommended = kernel_.try_first};
    if (plan_.resume == Resume::yes) prior.trials = store_.known_trials(subject_, problem);
    schedule_.add(size, std::move(space), std::move(prior));
  }

  [[nodiscard]] Opening opening() const {
    Opening opening{.kernel = &kernel_,
                    .device = device_.device(),
                    .environment = device_.environment(),
                    .cartesian = schedule_.searches().front().space().cartesian(),
                    .sizes = {},
                    .compile_threads = plan_.compile_threads};
    for (const SizeSearch& search : schedule_.searches()) {
      opening.sizes.push_back({.size = search.size(),
                               .valid = search.space().size(),
                               .planned = search.planned(),
                               .known = search.known_count()});
    }
    return opening;
  }

  void end(store::RunState state) {
    result_.state = state;
    result_.wall_s = elapsed_s();
    result_.respawns = device_.respawns() - respawns_before_;
    result_.compile_threads = plan_.compile_threads;
    result_.compile_s = runner_.compile_s();
    result_.verify_s = runner_.verify_s();
    result_.measure_s = runner_.measure_s() + final_round_.measure_s() + drift_s_;
    store::RunRecord record;
    record.state = state;
    record.wall_s = result_.wall_s;
    record.compile_s = result_.compile_s;
    record.verify_s = result_.verify_s;
    record.measure_s = result_.measure_s;
    record.respawns = result_.respawns;
    record.shared = result_.shared = others_.seen();
    store_.end_run(run_, record);
    failpoint("session.ended");
  }

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(SteadyClock::now() - start_).count();
  }
  [[nodiscard]] bool stop() const {
    return interrupted_() || (plan_.max_time && search_time() >= *plan_.max_time);
  }
  /// Without the final rounds.
  [[nodiscard]] SteadyClock::duration search_time() const {
    return SteadyClock::now() - start_ - final_time_;
  }

  void search() {
    while (!stop()) {
      schedule_.open();
      const auto next = schedule_.next([this] { return stop(); });
      if (!next) return;
      take(*next);
      if (drift_monitor_.due()) watch_drift();
      if (schedule_.is_over(*next->search)) finish(*next->search);
    }
  }

  /// What was timed while the device drifted is timed again.
  void watch_drift() {
    others_.look();
    const auto start = SteadyClock::now();
    for (const DriftMonitor::Suspect& suspect : drift_monitor_.check(elapsed_s())) {
      if (schedule_.again(*suspect.search, suspect.config)) ++result_.requeued;
    }
    drift_s_ += std::chrono::duration<double>(SteadyClock::now() - start).count();
    schedule_.charge_all(lap());
  }

  /// The time of the search since this was last asked.
  SteadyClock::duration lap() {
    const SteadyClock::duration now = search_time();
    return now - std::exchange(charged_, now);
  }

  void take(const Pending& pending) {
    SizeSearch& search = *pending.search;
    if (const store::TrialRecord* known = pending.known()) {
      const store::TrialRecord trial = *known;
      if (trial.outcome != Outcome::ok) reused_failures_[&search].push_back(trial);
      progress_.reused(search, trial, search.record(pending.config, trial));
    } else {
      const CommittedTrial committed = runner_.run(
          pending, [&](const store::TrialRecord& trial) { return following(search, trial); });
      tell(search, committed);
      if (committed.fastest) schedule_.share(search, pending.config);
      if (committed.trial.outcome == Outcome::ok) drift_monitor_.add(search, pending.config);
    }
    schedule_.charge_all(lap());
  }

  /// What comes after a candidate; none when that may be a final. The size pays for what the
  /// candidate did on the device. Compilers and the start of the device serve all: the size that
  /// happens to wait for them first must not pay with its own share.
  [[nodiscard]] const Pending* following(const SizeSearch& search,
                                         const store::TrialRecord& trial) {
    const auto took = std::chrono::duration<double>(lap());
    const auto own =
        std::min(took, TimeShares::Duration((trial.verify_ms + trial.measure_ms) / 1e3));
    schedule_.charge(search, own);
    schedule_.charge_all(took - own);
    return stop() ? nullptr : schedule_.following(search);
  }

  void tell(const SizeSearch& search, const CommittedTrial& committed) {
    progress_.ran(search, committed.trial, committed.fastest);
    failpoint("session.trial_acknowledged");
  }

  /// Ends the search at a size and runs its final round.
  void finish(SizeSearch& search) {
    schedule_.close(search);
    failpoint("session.searched");
    if (!stop()) {
      schedule_.open();
      schedule_.stock_up();
    }
    const auto start = SteadyClock::now();
    auto outcome = final_round_.run(
        search, rounds_plan(),
        [this](const SizeSearch& of, const CommittedTrial& committed) { tell(of, committed); });
    failpoint("session.final_ended");
    results_.emplace(&search, recorded(search, std::move(outcome)));
    const SteadyClock::duration took = SteadyClock::now() - start;
    final_time_ += took;
    progress_.held_final(took);
    failpoint("session.final_acknowledged");
  }

  /// Where time is short, a final round takes no longer than the search at a size.
  [[nodiscard]] measure::RoundsPlan rounds_plan() const {
    constexpr std::chrono::milliseconds kLeast{1000};
    measure::RoundsPlan plan{.seed = plan_.seed};
    if (plan_.max_time) {
      const auto share = *plan_.max_time / static_cast<int>(plan_.sizes.size());
      plan.budget = std::min(plan.budget, std::max(share, kLeast));
    }
    return plan;
  }

  /// What was best before, unless it failed in this run.
  [[nodiscard]] std::optional<space::Config> best_before(const SizeSearch& search) const {
    if (!search.required_finalists().incumbent) return std::nullopt;
    return incumbent(store_, family_, kernel_, device_.device(), search.size());
  }

  /// Commits how a size came out.
  [[nodiscard]] SizeResult recorded(const SizeSearch& search, std::optional<FinalResult> outcome) {
    SizeResult size_result{.size = search.size(),
                           .best = std::nullopt,
                           .finalists = {},
                           .winner_display = "",
                           .library_problem = "",
                           .caution = runner_.caution(search.size()),
                           .evaluated = search.recorded(),
                           .reused = progress_.reused(search),
                           .outcomes = search.outcomes(),
                           .reused_failures = std::move(reused_failures_[&search])};
    if (outcome) {
      outcome->best.run_uuid = result_.uuid;
      size_result.winner_display = space::display(*kernel_.space, outcome->winner);
      // Without a final, or with others on the device, nothing says that it is better than what was
      // best before: that stays.
      others_.look();
      const bool compared = !outcome->finalists.empty() && !others_.seen();
      if (compared || !best_before(search)) {
        store_.record_final(run_, outcome->best, outcome->finalists);
      }
      size_result.best = std::move(outcome->best);
      size_result.finalists = std::move(outcome->finalists);
      size_result.library_problem = std::move(outcome->library_problem);
    }
    observer_.size_done(size_result);
    return size_result;
  }

  const family::Family& family_;
  const family::Kernel& kernel_;
  const RunPlan& plan_;
  worker::DeviceWorker& device_;
  store::Store& store_;
  Observer& observer_;
  const std::function<bool()>& interrupted_;
  store::Subject subject_;
  int respawns_before_;
  OtherProcesses others_;
  SteadyClock::time_point start_ = SteadyClock::now();
  worker::CompilePool pool_;
  SizeSchedule schedule_;
  RunResult result_;
  std::int64_t run_;  // in the database
  ProgressReport progress_;
  TrialRunner runner_;
  FinalRound final_round_;
  DriftMonitor drift_monitor_;
  SteadyClock::duration charged_{}, final_time_{};
  double drift_s_ = 0;
  std::map<const SizeSearch*, std::vector<store::TrialRecord>> reused_failures_;
  std::map<const SizeSearch*, SizeResult> results_;
};

}  // namespace

RunResult tune_kernel(const family::Family& family, const family::Kernel& kernel,
                      const RunPlan& plan, worker::DeviceWorker& device,
                      const backend::Compiler& compiler, store::Store& store, Observer& observer,
                      const std::function<bool()>& interrupted) {
  return Run(family, kernel, plan, device, compiler, store, observer, interrupted).run();
}

}  // namespace tuner::session
