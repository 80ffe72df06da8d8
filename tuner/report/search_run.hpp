// SPDX-License-Identifier: Apache-2.0
// How single runs searched a size: the steps in which their best so far came down.
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/core/time_summary.hpp"
#include "tuner/report/configurations.hpp"
#include "tuner/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::report {

/// One candidate at one size. A report holds hundreds of thousands of them: without a text of its
/// own.
struct ReportedTrial {
  std::uint32_t run = 0;     ///< which of SizeHistory::searches
  std::uint32_t number = 0;  ///< among the trials of the run at this size, from 1
  double elapsed_s = 0;      ///< since the run's first trial at this size began
  std::uint32_t config = 0;  ///< of KernelHistory::configs
  Outcome outcome = Outcome::ok;
  int registers = 0;
  std::uint64_t shared_bytes = 0, local_bytes = 0;
  double own_s = 0;                                 ///< spent on verifying and timing it
  std::optional<TimeSummary> time = {};             ///< of single launches, only when `ok`
  std::optional<double> series_ns = {};             ///< as of TrialResult
  double ranking_ns = 0;                            ///< by rank_trials; 0 without a time
  std::shared_ptr<const std::string> message = {};  ///< why it is not `ok`; null when it is
};

/// Gives each trial of a size that has a time what searches rank it by: the time back to back with
/// cold operands, estimated from its single launches where it was not timed so (SeriesShare); of
/// single launches where no trial of the size was.
void rank_trials(std::vector<ReportedTrial>& trials);

/// What a run knew of a size when it began.
enum class Beginning {
  anew,          ///< nothing: it shows how long the search takes by itself
  with_results,  ///< what earlier runs had measured
  with_winner,   ///< run with --fresh, yet told first what had won before
};

/// A candidate that was faster than all before it.
struct Improvement {
  double candidates = 0;     ///< tried until then, it and failed ones included
  double seconds = 0;        ///< since the run began
  double ns = 0;             ///< ReportedTrial::ranking_ns
  std::uint32_t config = 0;  ///< of KernelHistory::configs
};

/// What a search's progress is counted in.
enum class ProgressAxis { candidates, seconds };

/// How one run searched one size.
struct SearchRun {
  std::string run;  ///< the beginning of its uuid
  std::string strategy;
  space::EnvironmentInfo environment;
  Beginning beginning = Beginning::anew;
  std::vector<Improvement> improvements;  ///< in order; empty when nothing succeeded
  double candidates = 0;                  ///< different configurations tried
  double began_s = 0;                     ///< when the first of them was begun
  double seconds = 0;                     ///< until the last of them was done
  double wall_s = 0;                      ///< that the run lasted, its finals included
  bool exhausted = false;                 ///< with earlier runs it tried every configuration

  /// The best time by then; none when nothing had succeeded.
  [[nodiscard]] std::optional<double> best_by(ProgressAxis progress, double limit) const;
  /// When a configuration as fast as that was found; none when it never was.
  [[nodiscard]] std::optional<double> reached(ProgressAxis progress, double ns) const;
  /// Whether it searched that long, or as long as there was anything to try.
  [[nodiscard]] bool lasted(ProgressAxis progress, double limit) const;
};

/// The configuration that a final round chose: the one that its ratios stand beside, 1 for itself.
/// Not always the fastest: of what ties within 1 % the preferred one wins. Null without any.
[[nodiscard]] const store::FinalistRecord* winner_of(
    std::span<const store::FinalistRecord> finalists);

[[nodiscard]] double at(const Improvement& improvement, ProgressAxis progress);

/// The searches of a size by the runs that tried something there, oldest first. `trials` are all of
/// the size in the order made, each with the place of its run in `runs` and its seconds since that
/// began. A configuration that was run again counts where it was run first, with the time that
/// stands.
[[nodiscard]] std::vector<SearchRun> search_runs(const store::Store& store,
                                                 std::span<const store::RunRecord> runs,
                                                 const std::string& problem,
                                                 const Configurations& configs,
                                                 std::span<const ReportedTrial> trials);

}  // namespace tuner::report
