// SPDX-License-Identifier: Apache-2.0
// Why a configuration is the fastest: it beside what was timed near it.
#pragma once

#include "tuner/counters/bound.hpp"
#include "tuner/counters/roofline.hpp"
#include "tuner/family/family.hpp"
#include "tuner/measure/rounds.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tuner::session {

/// A configuration that differs from another in one parameter.
struct TimedNeighbour {
  bool operator==(const TimedNeighbour&) const = default;

  space::Config config;
  std::size_t parameter = 0;  ///< index into the definition's parameters
};

/// Of the `trials` that ended ok, by canonical configuration, those that differ from `best` in
/// exactly one parameter: for each parameter its fastest, these by their time, then the second
/// fastest of each, and so on; at most `most`.
[[nodiscard]] std::vector<TimedNeighbour> timed_neighbours(
    const space::SpaceDefinition& definition, const space::Config& best,
    const std::map<std::string, store::TrialRecord>& trials, std::size_t most);

/// What to explain.
struct ExplanationPlan {
  space::Size size;
  space::Config best;  ///< valid at the size
  /// What is known to be right at the size on this device (Store::known_trials).
  std::map<std::string, store::TrialRecord> trials = {};
  std::size_t most_neighbours = 6;
  measure::RoundsPlan rounds = {.rounds = 30};
  int compile_threads = 1;
  /// The work of the size and the limits of the device, without the rate of operations: that
  /// follows from the clock.
  counters::Roofline roofline = {};
  double flops_per_cycle = 0;  ///< of the whole device; 0: not known
  /// The instructions in a binary; empty, or none of a binary: they are not known.
  std::function<std::optional<counters::InstructionMix>(const backend::Binary&)> instructions = {};
};

/// A contender and all that is known of it.
struct ExplainedContender {
  std::string role;                                 ///< "best", "neighbour", "default", "library"
  std::optional<space::Config> config = {};         ///< none: the library
  std::optional<std::size_t> parameter = {};        ///< of a neighbour: the one that differs
  store::TrialRecord trial = {};                    ///< how it was judged; the library is just `ok`
  std::optional<store::FinalistRecord> timed = {};  ///< beside the best one; absent: not timed
  counters::Profile profile = {};
};

struct Explanation {
  std::vector<ExplainedContender> contenders;  ///< the best one first, then as roles are listed
  /// Why there are no counters, or not those of all contenders; empty when there are.
  std::string counters_problem = {};
  std::string library_problem = {};  ///< why the library could not be timed, if so
  counters::Roofline roofline = {};
};

/// Times the best configuration, its timed neighbours, the default and the library side by side,
/// then counts each from a cold cache. What is not known to be right is verified first. Nothing is
/// stored. Throws Error(failure) when the best configuration fails, and for what is no
/// configuration's fault.
[[nodiscard]] Explanation explain(const family::Kernel& kernel, const ExplanationPlan& plan,
                                  worker::DeviceWorker& device, const backend::Compiler& compiler,
                                  const std::function<bool()>& stop);

/// Stores an explanation beside the run that found the best configuration of that very kernel
/// source, so that the report has it; false where there is no such run.
bool store_explanation(store::Store& store, const family::Family& family,
                       const family::Kernel& kernel, const space::DeviceInfo& device,
                       const space::Size& size, const Explanation& explanation);

}  // namespace tuner::session
