// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/energy_windows.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/session/side_by_side_timer.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/session/trial_runner.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/device_worker.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tuner::session {

/// The result of a final round at one size.
struct FinalResult {
  store::BestRecord best;
  space::Config winner;
  std::vector<store::FinalistRecord> finalists;  ///< fastest first; empty without a final round
  std::string library_problem = {};              ///< why the library was dropped, if it was
  double energy_s = 0;                           ///< that measuring energy was to take
  std::size_t left_out = 0;                      ///< finalists, by the plan's limit
};

/// As many of the best take part whatever the time of a round.
inline constexpr std::size_t kFewestFinalists = 3;

/// How a final round is held.
struct FinalPlan {
  measure::RoundsPlan rounds = {};
  EnergyPlan energy = {};
  std::size_t most_finalists = kMostFinalists;  ///< the best of the search; others are required
};

/// Confirms the winner of a size: re-times the best of the search, the default, what was best
/// before and the library side by side. The best are sixteen, or fewer where the plan says so or a
/// round of them would take more than 0.2 s, but at least three. Of those that were
/// timed in series back to back (SideBySideTimer::add_series), as programs run kernels, these give
/// the order. Within 1 % of the
/// fastest is a tie; of a tie what takes less energy wins, where that was measured and every window
/// says so, then the incumbent, then, of those within 0.5 %, the default, then the smaller
/// footprint in registers and shared memory, then the order of the space.
class FinalRound {
 public:
  /// Called with the trial of a finalist that failed in the final round.
  using Failed = std::function<void(const SizeSearch&, const CommittedTrial&)>;

  /// All must outlive it.
  FinalRound(const family::Family& family, const family::Kernel& kernel, worker::CompilePool& pool,
             worker::DeviceWorker& device, TrialRunner& runner, Observer& observer,
             const std::function<bool()>& interrupted)
      : family_(family),
        kernel_(kernel),
        pool_(pool),
        device_(device),
        runner_(runner),
        observer_(observer),
        interrupted_(interrupted) {}

  /// The configurations that take part, fastest first, where so many of the best may.
  [[nodiscard]] static std::vector<space::Config> finalists(const SizeSearch& search,
                                                            std::size_t most = kMostFinalists);
  /// The fastest by search times alone; none when no configuration of the search is left.
  [[nodiscard]] std::optional<FinalResult> by_screening(const SizeSearch& search) const;

  /// Runs the final round of a size. A finalist that fails becomes a failed trial, and the round
  /// starts again without it; the library is dropped after two failures. Interrupted before there
  /// are rounds enough for an interval, the result is the fastest by screening time, without
  /// finalists. None when no configuration of the search is left.
  [[nodiscard]] std::optional<FinalResult> run(SizeSearch& search, const FinalPlan& plan,
                                               const Failed& failed);

 private:
  [[nodiscard]] Expected<FinalResult, LostContender> attempt(const SizeSearch& search,
                                                             const FinalPlan& plan,
                                                             LibraryPart library);
  [[nodiscard]] FinalResult result(const SizeSearch& search,
                                   const std::vector<space::Config>& configs,
                                   const SideBySideTimes& times,
                                   const std::vector<std::optional<EnergySummary>>& energies,
                                   std::size_t winner) const;
  [[nodiscard]] store::BestRecord best_record(const SizeSearch& search,
                                              const space::Config& winner) const;

  const family::Family& family_;
  const family::Kernel& kernel_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  TrialRunner& runner_;
  Observer& observer_;
  const std::function<bool()>& interrupted_;
};

}  // namespace tuner::session
