// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/card_lane.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/session/earlier_winners.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {

CardLane::CardLane(SharedRun& run, std::size_t index, FreeCard& card, MachineCompilers& compilers)
    : run_(run),
      compilers_(compilers),
      card_(card.card),
      device_(*card_.device),
      respawns_before_(card.respawns_before),
      others_(card.others),
      schedule_(run.plan, run.kernel, compilers, run.board),
      runner_({.kernel = run.kernel,
               .pool = compilers.pool,
               .store = run.store,
               .guard = run.guard,
               .run = run.run,
               .seed = run.plan.seed,
               .clock = [&run] { return run.elapsed_s(); },
               .covered = [&run](const auto& coverage) { run.observer.tell(coverage); }},
              index, device_),
      final_round_(run.family, run.kernel, compilers.pool, device_, runner_, run.observer,
                   run.interrupted),
      library_gauge_(run.family, run.kernel, compilers.pool, device_, run.interrupted) {}

void CardLane::work() {
  // Also takes sizes of cards that drop out.
  while (run_.board.wait(run_.interrupted) || !schedule_.held().empty()) {
    search();
    if (stop()) {
      schedule_.open();
      try_untried();
    }
    while (!schedule_.held().empty()) finish(*schedule_.held().front());
  }
}

void CardLane::give_up() {
  runner_.give_up();
  schedule_.give_up();
}

CardName CardLane::name() const {
  return {.name = card_.name, .uuid = device_.device().uuid, .host = card_.host};
}

CardResult CardLane::result() const {
  return {.card = name(),
          .verify_s = runner_.verify_s(),
          .measure_s =
              runner_.measure_s() + std::chrono::duration<double>(final_time_).count() + drift_s_,
          .sizes = results_.size(),
          .respawns = device_.respawns() - respawns_before_};
}

bool CardLane::stop() const {
  if (run_.interrupted()) return true;
  if (!run_.plan.max_time) return false;
  // What has begun is completed: a trial that takes longer than the overrun would take the time of
  // the final rounds.
  const auto beyond =
      std::max(FinalCosts::Duration{}, expected_trial() - FinalCosts::Duration(run_.plan.overrun));
  return elapsed() + time_for_finals() + beyond >= *run_.plan.max_time;
}

FinalCosts::Duration CardLane::expected_trial() const {
  return judged_ == 0 ? FinalCosts::Duration{} : judging_time_ / static_cast<double>(judged_);
}

double CardLane::unfinished() const {
  return static_cast<double>(schedule_.held().size()) + run_.board.waiting_per_card();
}

std::size_t CardLane::library_contenders() const {
  return family::library_arguments(run_.family.check) != nullptr ? 2 : 0;
}

std::size_t CardLane::contenders(std::size_t finalists) const {
  constexpr std::size_t kRequired = 2;  // the default and the incumbent
  return finalists + kRequired + library_contenders();
}

FinalCosts::Duration CardLane::time_for_finals() const {
  constexpr double kShare = 0.25;  // of a size's part of the time
  if (!run_.plan.max_time || run_.plan.final_rounds == FinalRounds::deferred) return {};
  const FinalCosts::Duration part = FinalCosts::Duration(*run_.plan.max_time) *
                                    static_cast<double>(run_.board.cards()) /
                                    static_cast<double>(run_.plan.sizes.size());
  return unfinished() *
         std::min(final_costs_.expected(contenders(run_.plan.most_finalists)), kShare * part);
}

CardLane::Duration CardLane::search_time() const {
  return elapsed() - final_time_;
}

CardLane::Duration CardLane::lap() {
  const Duration now = search_time();
  return now - std::exchange(charged_, now);
}

void CardLane::search() {
  while (!stop()) {
    schedule_.open();
    schedule_.reserve(final_time_ + time_for_finals());
    const auto next = schedule_.next([this] { return stop(); });
    if (!next) return;
    take(*next);
    watch_drift();
    if (schedule_.is_over(*next->search)) finish(*next->search);
  }
}

void CardLane::try_untried() {
  const auto has_time = [&] {
    return !run_.plan.max_time ||
           elapsed() + expected_trial() <= *run_.plan.max_time + run_.plan.overrun;
  };
  const auto is_tried = [&](SizeSearch& search) {
    return (search.best_ns() && (search.has_tried_the_first() || !has_time())) ||
           schedule_.is_over(search);
  };
  for (SizeSearch* const search : std::vector(schedule_.held())) {
    if (is_tried(*search)) finish(*search);
  }
  const auto is_over = [&] {
    if (run_.interrupted()) return true;
    return run_.plan.max_time && elapsed() >= *run_.plan.max_time + run_.plan.overrun;
  };
  while (!is_over()) {
    const auto next = schedule_.next(is_over, Pipeline::Order::as_asked);
    if (!next) return;
    take(*next);
    if (is_tried(*next->search)) finish(*next->search);
  }
}

void CardLane::watch_drift() {
  if (!drift_monitor_) {
    // A size of average work shows a drift of the device without taking seconds for it.
    std::vector<SizeSearch*> open = schedule_.held();
    const auto middle = open.begin() + static_cast<std::ptrdiff_t>((open.size() - 1) / 2);
    std::ranges::nth_element(open, middle, {}, [&](const SizeSearch* search) {
      return family::flops_at(run_.family.problem, search->size());
    });
    drift_monitor_.emplace(run_.kernel, **middle, compilers_.pool, device_, run_.store, run_.run,
                           run_.plan.now);
  }
  if (!drift_monitor_->due()) return;
  others_.look();
  const auto start = run_.plan.now();
  for (const DriftMonitor::Suspect& suspect : drift_monitor_->check(run_.elapsed_s())) {
    if (schedule_.again(*suspect.search, suspect.config)) ++requeued_;
  }
  drift_s_ += std::chrono::duration<double>(run_.plan.now() - start).count();
  schedule_.charge_all(lap());
}

void CardLane::take(const Pending& pending) {
  if (const store::TrialRecord* known = pending.known()) {
    take_known(pending, *known);
  } else {
    run(pending);
  }
  schedule_.charge_all(lap());
}

void CardLane::take_known(const Pending& pending, const store::TrialRecord& known) {
  SizeSearch& search = *pending.search;
  const store::TrialRecord trial = known;  // `record` replaces it
  if (trial.outcome != Outcome::ok) reused_failures_[&search].push_back(trial);
  const bool fastest = search.record(pending.config, trial);
  // Stored results come fastest first, and those of a search that was cut short are no sign that
  // more is in vain.
  const bool was_cut_short = run_.plan.max_time || !search.required_finalists().incumbent;
  if (was_cut_short) search.restart_patience();
  run_.board.set_winners(search);
  run_.progress.reused(search, trial, fastest, card_.name);
}

void CardLane::run(const Pending& pending) {
  SizeSearch& search = *pending.search;
  place(search);
  const auto start = run_.plan.now();
  JudgedTrial judged = runner_.judge(pending);
  judging_time_ += run_.plan.now() - start;
  ++judged_;
  charge(search, judged.trial);
  // Once the time is up a final round comes next, which has no attempts.
  const Pending* const next = stop() ? nullptr : schedule_.following(search);
  const CommittedTrial committed = runner_.commit(pending, std::move(judged), next);
  run_.board.set_winners(search);
  tell(search, committed);
  if (committed.fastest) {
    run_.board.offer(search, pending.config);
    schedule_.hear_offers();
  }
  if (drift_monitor_ && committed.trial.outcome == Outcome::ok) {
    drift_monitor_->add(search, pending.config);
  }
  gauge_library(search);
}

void CardLane::gauge_library(const SizeSearch& search) {
  if (stop() || !run_.observer.shows_library()) return;
  if (const auto ns = library_gauge_.time(search)) {
    run_.progress.timed_library(search, *ns);
  }
}

void CardLane::charge(const SizeSearch& search, const store::TrialRecord& trial) {
  const auto took = std::chrono::duration<double>(lap());
  const auto own = std::min(took, TimeShares::Duration((trial.verify_ms + trial.measure_ms) / 1e3));
  schedule_.charge(search, own);
  if (trial.outcome == Outcome::ok) {
    final_costs_.add_timing(FinalCosts::Duration(trial.measure_ms / 1e3));
  }
  // Compilers and the start of the device serve all: the size that happens to wait for them first
  // must not pay with its own share.
  schedule_.charge_all(took - own);
}

void CardLane::tell(const SizeSearch& search, const CommittedTrial& committed) {
  run_.progress.ran(search, committed.trial, committed.fastest, card_.name);
  failpoint("session.trial_acknowledged");
}

void CardLane::finish(SizeSearch& search) {
  schedule_.close(search);
  failpoint("session.searched");
  if (!stop()) {
    schedule_.open();
    schedule_.stock_up();
  }
  const auto start = run_.plan.now();
  if (search.best_ns()) place(search);
  std::optional<FinalResult> outcome = hold_final(search);
  failpoint("session.final_ended");
  if (outcome) commit(search, *outcome);
  SizeResult result = size_result(search, std::move(outcome));
  run_.observer.tell(result);
  results_.emplace(&search, std::move(result));
  run_.board.set_winners(search);
  schedule_.finish(search);
  const Duration took = run_.plan.now() - start;
  final_time_ += took;
  run_.progress.held_final(took);
  failpoint("session.final_acknowledged");
}

std::optional<FinalResult> CardLane::hold_final(SizeSearch& search) {
  const std::optional<FinalPlan> plan = final_plan(search);
  if (!plan) return final_round_.by_screening(search);
  const auto start = run_.plan.now();
  auto outcome = final_round_.run(
      search, *plan,
      [this](const SizeSearch& of, const CommittedTrial& committed) { tell(of, committed); });
  if (!outcome || outcome->finalists.empty()) return outcome;
  energy_s_ += outcome->energy_s;
  const FinalCosts::Duration took = run_.plan.now() - start;
  // Energy that is measured only where there is time for it is planned for itself.
  const bool with_energy = run_.plan.energy == EnergyChoice::always;
  final_costs_.add_final(outcome->finalists.size(),
                         with_energy ? took : took - FinalCosts::Duration(outcome->energy_s));
  return outcome;
}

std::optional<FinalPlan> CardLane::final_plan(const SizeSearch& search) const {
  if (run_.plan.final_rounds == FinalRounds::deferred) return std::nullopt;
  FinalPlan plan{
      .rounds = rounds_plan(), .energy = energy_plan(), .most_finalists = run_.plan.most_finalists};
  if (!run_.plan.max_time) return plan;
  constexpr std::chrono::milliseconds kLeast{100};
  const FinalCosts::Duration left = FinalCosts::Duration(*run_.plan.max_time) - elapsed();
  const FinalCosts::Duration share = left / std::max(1.0, unfinished());
  const std::size_t fewest = std::min(kFewestFinalists, plan.most_finalists);
  const FinalCosts::Duration shortest =
      final_costs_.expected(FinalRound::finalists(search, fewest).size() + library_contenders());
  FinalCosts::Duration longest = left + run_.plan.overrun;
  if (!final_costs_.has_final()) {
    // Without any result all was in vain: this round may take what is for work that has begun when
    // the overrun ends, and follow a verification that took longer than all of that.
    constexpr double kLate = 0.1;
    longest = std::max<FinalCosts::Duration>(longest + run_.plan.overrun, kLate * elapsed());
  }
  if (longest < shortest) return std::nullopt;
  const std::size_t most = final_costs_.most_contenders(share);
  const std::size_t others = contenders(0);
  plan.most_finalists = std::clamp(most > others ? most - others : 0, fewest, plan.most_finalists);
  plan.rounds.budget = std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(share),
                                  kLeast, plan.rounds.budget);
  return plan;
}

measure::RoundsPlan CardLane::rounds_plan() const {
  measure::RoundsPlan plan{.seed = run_.plan.seed};
  // Series decide: single launches only tell what takes part in them.
  if (!family::extends_lists(run_.family.arguments)) plan.rounds = plan.decisive_rounds;
  return plan;
}

EnergyPlan CardLane::energy_plan() const {
  constexpr double kShare = 0.1;
  const double search_s = std::chrono::duration<double>(search_time()).count();
  EnergyPlan plan{
      .choice = run_.plan.energy, .most_s = kShare * search_s - energy_s_, .seed = run_.plan.seed};
  if (run_.plan.max_time) {
    const FinalCosts::Duration left =
        FinalCosts::Duration(*run_.plan.max_time) - elapsed() - time_for_finals();
    plan.most_s = std::min(plan.most_s, left.count());
  }
  return plan;
}

std::optional<space::Config> CardLane::best_before(const SizeSearch& search) const {
  if (!search.required_finalists().incumbent) return std::nullopt;
  return incumbent(run_.store, run_.family, run_.kernel, device_.device(), search.size());
}

void CardLane::commit(const SizeSearch& search, FinalResult& outcome) {
  outcome.best.run_uuid = run_.uuid;
  others_.look();
  const bool confirmed = !outcome.finalists.empty();
  if (confirmed && (!others_.seen() || !best_before(search))) {
    run_.store.record_final(run_.run, outcome.best, outcome.finalists);
  }
}

SizeResult CardLane::size_result(const SizeSearch& search, std::optional<FinalResult> outcome) {
  SizeResult result{.size = search.size(),
                    .best = std::nullopt,
                    .finalists = {},
                    .winner_display = "",
                    .library_problem = "",
                    .caution = runner_.caution(search.size()),
                    .card = name(),
                    .evaluated = search.recorded(),
                    .reused = run_.progress.reused(search),
                    .outcomes = search.outcomes(),
                    .first_failure = search.first_failure(),
                    .reused_failures = std::move(reused_failures_[&search])};
  if (outcome) {
    result.winner_display = space::display(*run_.kernel.space, outcome->winner);
    result.best = std::move(outcome->best);
    result.finalists = std::move(outcome->finalists);
    result.library_problem = std::move(outcome->library_problem);
    result.left_out = outcome->left_out;
  }
  return result;
}

void CardLane::place(const SizeSearch& search) {
  // A processor has no uuid: that of this machine is the only one, another is known by its host.
  const std::string& uuid = device_.device().uuid.empty() ? card_.host : device_.device().uuid;
  if (uuid.empty() || !placed_.insert(&search).second) return;
  run_.store.record_card(run_.run,
                         {.problem = space::canonical_size(search.size(), run_.kernel.space->dims),
                          .uuid = uuid,
                          .host = card_.host,
                          .job = card_.job});
}

}  // namespace tuner::session
