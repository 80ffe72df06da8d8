// SPDX-License-Identifier: Apache-2.0
// Module session: a run of `tune` in its steps: open, begin, lanes of devices, final rounds, end.
// Only here is the order of the stages known; each stage takes and returns values.
#pragma once

#include "tuner/counters/counters.hpp"
#include "tuner/family/family.hpp"
#include "tuner/measure/rounds.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::session {

/// What a bench does with a configuration, in this order.
enum class BenchStage { compile, verify, time };

struct BenchContender;

/// What a launch left in an argument that it writes.
struct OutputData {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Which configurations of a kernel to look at.
struct BenchPlan {
  /// What ratios are to: the fastest configuration, or the first of the plan if that was timed.
  enum class Beside { fastest, first };

  space::Size size;
  std::vector<space::Config> configs;  ///< valid at the size, each once
  measure::RoundsPlan finals = {};
  int compile_threads = 1;
  Beside beside = Beside::fastest;
  /// Another kernel of the family, to be timed by its default configuration too, such as the
  /// reference; null: none.
  const family::Kernel* companion = nullptr;
  bool reads_counters = false;  ///< of the first configuration
  /// Called with each stage as it begins, and with each contender that was judged. May be empty.
  std::function<void(BenchStage)> began = {};
  std::function<void(const BenchContender&)> judged = {};
  /// Called with each configuration's place in `configs`, the default's after them, and with what a
  /// launch of it left in the outputs, where it ended `ok`. May be empty.
  std::function<void(std::size_t, const space::Config&, const std::vector<OutputData>&)> computed =
      {};
  /// Whether configurations are verified and timed, or launched once for their outputs alone.
  enum class Extent { full, launch };
  Extent extent = Extent::full;
};

/// Where a configuration stands among those that were timed with it.
enum class Place {
  fastest,
  tied,  ///< not shown to be slower than the fastest by more than 1 %
  slower,
};
[[nodiscard]] std::string_view name(Place place);

/// The result of one contender.
struct BenchContender {
  std::string role;          ///< "candidate", "default", "library", "companion"
  store::TrialRecord trial;  ///< how it was judged, as a run records it; the others are just `ok`
  /// Its times beside the others; absent when it did not end `ok` or the bench was stopped.
  std::optional<store::FinalistRecord> timed;
  std::optional<Place> place;  ///< of a configuration that was timed
  std::string caution = {};    ///< worker::EvaluatedCandidate::caution
  std::vector<verify::PerformedCheck> checks = {};
  std::vector<verify::LawLeftOut> laws_left_out = {};
  std::optional<verify::Coverage> coverage = {};  ///< worker::EvaluatedCandidate::coverage
};

struct BenchResult {
  std::vector<BenchContender> contenders;  ///< fastest first; then what was not timed, as asked
  int discarded_rounds = 0;                ///< the device was throttled
  std::string library_problem = {};        ///< why the library could not be timed, if so
  std::string companion_problem = {};      ///< likewise
  counters::CounterReading counters = {};  ///< of the first configuration, where they were read
};

/// Judges each configuration, and the default one where it is valid, as a run would: compiles,
/// verifies, screens. Those that end `ok` are then timed side by side, beside the library; their
/// ratios are to the fastest configuration. Of an extent of one launch, only the configurations of
/// the plan are compiled and launched. Nothing is stored. `stop` is asked between the steps:
/// what was not judged by then is left out. Throws Error for what is no configuration's fault.
[[nodiscard]] BenchResult run_bench(const family::Kernel& kernel, const BenchPlan& plan,
                                    worker::DeviceWorker& device, const backend::Compiler& compiler,
                                    const std::function<bool()>& stop);

/// Stores a trial as a run that is complete with it and has no final round, so that the trial is
/// known to later runs and is no best result. `run` gives
/// strategy, seed and command.
void store_trial(store::Store& store, const family::Family& family, const family::Kernel& kernel,
                 const worker::DeviceWorker& device, const store::TrialRecord& trial,
                 store::RunRecord run);

}  // namespace tuner::session
