// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/records.hpp"
#include "tuner/verify/coverage.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tuner::session {

enum class LibraryPart;

/// A card of a run: as the user named it, its uuid, which a processor lacks, and where it is.
struct CardName {
  std::string name;
  std::string uuid;
  std::string host = {};  ///< of another machine; empty: this one
};

/// What a run is about to do.
struct Opening {
  struct SizePlan {
    space::Size size;
    std::uint64_t valid = 0;    ///< configurations
    std::uint64_t planned = 0;  ///< of them to be evaluated
    std::uint64_t known = 0;    ///< results for this kernel, device and environment already stored
  };
  const family::Kernel* kernel = nullptr;
  space::DeviceInfo device;
  space::EnvironmentInfo environment;
  std::uint64_t cartesian = 0;
  std::vector<SizePlan> sizes;
  int compile_threads = 1;
  std::vector<CardName> cards;
};

/// Where a run stands after a trial.
struct Progress {
  space::Size size;
  const store::TrialRecord* trial = nullptr;
  std::string_view card;                      ///< name of the card that ran it
  bool reused = false;                        ///< taken from the database, not run
  bool new_best = false;                      ///< the first of its size in the order of the search
  std::optional<double> ranking_ns;           ///< what that order goes by; of a trial that is `ok`
  double flops = 0, bytes = 0;                ///< of the problem
  std::optional<double> library_ns;           ///< roughly, once it was timed at the size
  std::uint64_t evaluated = 0;                ///< over all sizes, reused ones included
  std::uint64_t planned = 0;                  ///< likewise
  std::map<Outcome, std::uint64_t> outcomes;  ///< over all sizes
  std::chrono::milliseconds elapsed{};
  std::optional<std::chrono::milliseconds> remaining;  ///< estimated, from the rate so far
};

/// The best of a search that take part in a final round, at most. Many, because launches back to
/// back rank unlike the search.
inline constexpr std::size_t kMostFinalists = 16;

/// How one size ended.
struct SizeResult {
  space::Size size;
  std::optional<store::BestRecord> best;  ///< absent: no configuration ended `ok`
  /// Empty: there was no final round, and `best` is by screening times alone, which are not stored
  /// as a result.
  std::vector<store::FinalistRecord> finalists;
  /// Of those that would have taken part in the final round, for which the time was too short.
  std::size_t left_out = 0;
  std::string winner_display;   ///< "TILE_M=64 …"
  std::string library_problem;  ///< why the final had to do without the library, if so
  std::string caution;          ///< what the user should know of the check, if anything
  CardName card;                ///< that ran its final round
  std::uint64_t evaluated = 0, reused = 0;
  std::map<Outcome, std::uint64_t> outcomes;
  std::string first_failure = {};  ///< SizeSearch::first_failure
  std::vector<store::TrialRecord>
      reused_failures;  ///< what was taken from the database and is not `ok`
};

/// What a card did in a run.
struct CardResult {
  CardName card;
  double verify_s = 0, measure_s = 0;  ///< as RunResult's
  std::uint64_t sizes = 0;             ///< that it brought to their result
  int respawns = 0;
  std::string dropped = {};  ///< why it took no further part; empty when it did to the end
};

/// How a run ended.
struct RunResult {
  std::string uuid;
  store::RunState state = store::RunState::complete;
  std::vector<SizeResult> sizes;
  double wall_s = 0, compile_s = 0, verify_s = 0, measure_s = 0;
  int compile_threads = 1;
  int respawns = 0;     ///< how often the process that drives the device was replaced
  int requeued = 0;     ///< trials timed anew because the device had drifted
  bool shared = false;  ///< other processes were seen on the device
  std::vector<CardResult> cards;
};

/// The first candidates have been timed: how long the search may take if nothing stops it.
struct SearchEstimate {
  std::chrono::milliseconds search;
};

/// Configurations are re-timed side by side, with the library where it takes part.
struct FinalBegan {
  space::Size size;
  std::size_t contenders;
  LibraryPart library;
};

/// `rounds` of at most `most` rounds of a final round are over.
struct RoundDone {
  space::Size size;
  int rounds, most;
};

/// The energy of so many contenders is measured, which takes so long.
struct EnergyBegan {
  space::Size size;
  std::size_t contenders;
  double seconds;
};

/// A card takes part from now on.
struct CardJoined {
  CardName card;
};

/// A card takes no further part, or none at all; others go on with its sizes.
struct CardDropped {
  CardName card;
  std::string reason;
};

/// What happens in a run. Coverage is what the checks of a first right candidate reached of the
/// family's reference kernel: of each process that drives a device. A SizeResult comes when its
/// size is over.
using Event = std::variant<Opening, SearchEstimate, verify::Coverage, Progress, FinalBegan,
                           RoundDone, EnergyBegan, SizeResult, CardJoined, CardDropped>;

/// Watches a run.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Whether it shows Progress::library_ns: only then the search takes the time for it.
  [[nodiscard]] virtual bool shows_library() const { return false; }
  /// Called from the threads of a run's cards, one call at a time; must not throw. What an event
  /// points to may be gone after the call.
  virtual void tell(const Event& event) = 0;
};

}  // namespace tuner::session
