// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/select/shipped_table.hpp"
#include "tuner/session/energy_windows.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/device_worker.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::session {

/// Whether results that are already in the database count.
enum class Resume {
  yes,  ///< a configuration with a result for this kernel, device and environment is not run again
  no,   ///< everything is run anew
};

/// What becomes of a run on a device that other processes compute on, taking time from it.
enum class SharedDevice {
  refused,   ///< it does not begin
  accepted,  ///< its results are marked, and none that was best before loses its place to them
};

/// What a run evaluates.
enum class Candidates {
  all,
  known,  ///< the default, what was best before, and what has a result: for a final round alone
};

/// Whether sizes have final rounds in a run.
enum class FinalRounds {
  held,
  deferred,  ///< to a later run: the best of each size is by search times
};

/// Tells the time to a run. Called from any thread.
using RunClock = std::function<std::chrono::steady_clock::time_point()>;

/// What to tune and for how long.
struct RunPlan {
  std::vector<space::Size> sizes;
  std::string strategy = "auto";
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> max_evaluations = {};  ///< configurations at each size
  /// Of the run, final rounds included, which get what they are expected to take, at most a
  /// quarter. What has begun is completed.
  std::optional<std::chrono::milliseconds> max_time = {};
  /// For so much longer sizes without a result get their first trials, and their final rounds the
  /// fewest finalists.
  std::chrono::milliseconds overrun{10'000};
  /// Of each size, above 0: the most important are searched first, and share the time in these
  /// proportions. Empty: all are alike.
  std::vector<double> importance = {};
  /// The search at a size ends after this number of results in a row without an improvement of more
  /// than 0.5 %.
  std::optional<std::uint64_t> patience = {};
  Resume resume = Resume::yes;
  /// Runs of the same kernel, by uuid, whose results count whatever `resume` says.
  std::vector<std::string> continued = {};
  Candidates candidates = Candidates::all;
  SharedDevice shared_device = SharedDevice::refused;
  /// With when_short, energy takes at most a tenth of what the searches of a card have taken.
  FinalRounds final_rounds = FinalRounds::held;
  std::size_t most_finalists = kMostFinalists;
  EnergyChoice energy = EnergyChoice::when_short;
  /// What was best by installed tables, for any kernel of the family at any size on any device of
  /// this backend: tried first.
  std::vector<select::ShippedWinner> shipped = {};
  std::string command = {};                       ///< recorded, to reproduce the run
  RunClock now = std::chrono::steady_clock::now;  ///< of budgets, intervals and recorded times
};

/// One of the devices that a run uses.
struct Card {
  std::string name;                   ///< as the user named it: "0", or a uuid
  worker::DeviceWorker* device;       ///< used from one thread at a time
  const backend::Compiler* compiler;  ///< of the machine that it is in; cards of one share it
  int compile_threads = 1;            ///< that compiler's, for all of its cards
  std::string host = {};              ///< of another machine; empty: this one
  std::string job = {};               ///< of the batch system there
};

/// The cards that have come since this was last asked, of any model and environment. Empty: none
/// will come.
using NewCards = std::function<std::vector<Card>()>;

/// A kernel to tune, on what, and who follows the run. All must outlive it.
struct RunRequest {
  const family::Family& family;
  const family::Kernel& kernel;
  const RunPlan& plan;
  std::span<const Card> cards;  ///< at least one
  const NewCards& joining;
  store::Store& store;
  Observer& observer;
  const std::function<bool()>& interrupted;  ///< asked from any thread
};

/// Tunes one kernel of a family on cards of one model with one environment: searches,
/// compiles ahead while the devices work, verifies, times, commits every trial, and confirms the
/// winner of each size in a final round beside the library. The search and the final round of a
/// size are on one card, each card has a few searches at once; they advance in turn and share
/// compilations. Each size has its final round when its search is over; then the card takes the
/// next one, which begins with the winners of the sizes near it, on any card. A card that is lost,
/// faulty or shared is dropped: its sizes continue on other cards, where their fastest
/// configurations are timed again first. `joining` is called now and then, from one thread: a card
/// of the same model and environment takes sizes from then on, another is refused. `interrupted` is
/// asked between trials; once true the run commits what it has and returns. Throws
/// Error for what ends a run: no valid configuration, the database, the last card dropped.
[[nodiscard]] RunResult tune_kernel(const RunRequest& request);

}  // namespace tuner::session
