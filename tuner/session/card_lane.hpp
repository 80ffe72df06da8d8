// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/drift_monitor.hpp"
#include "tuner/session/final_costs.hpp"
#include "tuner/session/final_round.hpp"
#include "tuner/session/library_gauge.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/session/other_processes.hpp"
#include "tuner/session/progress_report.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/size_board.hpp"
#include "tuner/session/size_schedule.hpp"
#include "tuner/session/trial_runner.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tuner::session {

/// A run in the database.
struct BegunRun {
  std::int64_t number;
  std::string uuid;
  std::chrono::steady_clock::time_point start;
};

/// What the cards of a run share. All of it may be used from any thread.
struct SharedRun {
  const family::Family& family;
  const family::Kernel& kernel;
  const RunPlan& plan;
  store::Store& store;
  Observer& observer;
  const std::function<bool()>& interrupted;
  std::int64_t run;  ///< in the store
  std::string uuid;
  std::chrono::steady_clock::time_point start;
  SizeBoard& board;
  FaultGuard& guard;
  ProgressReport& progress;

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(plan.now() - start).count();
  }
};

/// A card that is free for the run.
struct FreeCard {
  Card card;
  int respawns_before;  ///< of its device, when the run began
  OtherProcesses others;
};

/// The part that one card has in a run: it takes sizes, searches a few of them at once, and holds
/// their final rounds, until none is left.
class CardLane {
 public:
  /// The run, the card and the compilers of its machine must outlive it; `index` tells the cards of
  /// the run apart.
  CardLane(SharedRun& run, std::size_t index, FreeCard& card, MachineCompilers& compilers);
  CardLane(const CardLane&) = delete;
  CardLane& operator=(const CardLane&) = delete;

  /// Works until every size of the run has its result. Throws Error(no_device) when the device
  /// cannot go on, and other Errors for what ends the run.
  void work();
  /// Returns its sizes to the board, with what was in flight: the device cannot go on.
  void give_up();

  /// Seconds spent so far, and sizes finished.
  [[nodiscard]] CardResult result() const;
  [[nodiscard]] double compile_s() const { return runner_.compile_s(); }
  [[nodiscard]] int requeued() const { return requeued_; }
  [[nodiscard]] bool shared() const { return others_.seen(); }
  /// By search: of the sizes that this card has finished.
  [[nodiscard]] std::map<const SizeSearch*, SizeResult>& sizes() { return results_; }

 private:
  using Duration = std::chrono::steady_clock::duration;

  void search();
  /// Once the time of the search is up: held sizes get the two configurations that are asked first,
  /// the default and the likeliest, and more until one succeeds, at most four: every size has a
  /// result that is better than the default where something better is known. The overrun of the
  /// plan ends it.
  void try_untried();
  /// What was timed while the device drifted is timed again.
  void watch_drift();
  void take(const Pending& pending);
  /// Times the library beside the first configuration that works.
  void gauge_library(const SizeSearch& search);
  void take_known(const Pending& pending, const store::TrialRecord& trial);
  /// Judges a candidate on the card and commits its trial.
  void run(const Pending& pending);
  /// Has a size pay for what its candidate did on the device.
  void charge(const SizeSearch& search, const store::TrialRecord& trial);
  void tell(const SizeSearch& search, const CommittedTrial& committed);
  /// Ends the search at a size, runs its final round and commits the result.
  void finish(SizeSearch& search);
  /// Holds the final round of a size, with as many finalists as there is time for, or tells the
  /// best by search times where that is too short or the plan defers it.
  [[nodiscard]] std::optional<FinalResult> hold_final(SizeSearch& search);
  /// Commits a final round, but not a screening time, which no query may return, nor a time from a
  /// shared device that would replace an earlier best.
  void commit(const SizeSearch& search, FinalResult& outcome);
  /// None where there is no time for one.
  [[nodiscard]] std::optional<FinalPlan> final_plan(const SizeSearch& search) const;
  [[nodiscard]] measure::RoundsPlan rounds_plan() const;
  [[nodiscard]] EnergyPlan energy_plan() const;
  /// What was best before, unless it failed in this run.
  [[nodiscard]] std::optional<space::Config> best_before(const SizeSearch& search) const;
  [[nodiscard]] SizeResult size_result(const SizeSearch& search,
                                       std::optional<FinalResult> outcome);
  /// Commits that a size is tuned on this card, once, before its first row from here.
  void place(const SizeSearch& search);

  /// Whether the time of the search is up: what is left is for final rounds.
  [[nodiscard]] bool stop() const;
  [[nodiscard]] Duration elapsed() const { return run_.plan.now() - run_.start; }
  /// How long one more trial is expected to take on the device.
  [[nodiscard]] FinalCosts::Duration expected_trial() const;
  /// How long the final rounds of the sizes that have none yet may take on this card.
  [[nodiscard]] FinalCosts::Duration time_for_finals() const;
  /// How many sizes this card is still to finish, those that cards share as fractions.
  [[nodiscard]] double unfinished() const;
  /// The contenders of a final round with so many of the best configurations.
  [[nodiscard]] std::size_t contenders(std::size_t finalists) const;
  /// The algorithms of the library that take part in a final round, at most.
  [[nodiscard]] std::size_t library_contenders() const;
  /// Without the final rounds.
  [[nodiscard]] Duration search_time() const;
  /// The time of the search since this was last asked.
  Duration lap();

  [[nodiscard]] CardName name() const;

  SharedRun& run_;
  MachineCompilers& compilers_;
  const Card& card_;
  worker::DeviceWorker& device_;
  int respawns_before_;
  OtherProcesses& others_;
  SizeSchedule schedule_;
  TrialRunner runner_;
  FinalRound final_round_;
  LibraryGauge library_gauge_;
  std::optional<DriftMonitor> drift_monitor_;  // once a size is open
  FinalCosts final_costs_;
  FinalCosts::Duration judging_time_{};  // of trials on the device
  std::size_t judged_ = 0;
  Duration charged_{}, final_time_{};
  double drift_s_ = 0, energy_s_ = 0;
  int requeued_ = 0;
  std::set<const SizeSearch*> placed_;
  std::map<const SizeSearch*, std::vector<store::TrialRecord>> reused_failures_;
  std::map<const SizeSearch*, SizeResult> results_;
};

}  // namespace tuner::session
