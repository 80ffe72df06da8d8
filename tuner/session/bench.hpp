// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/measure/rounds.hpp"
#include "tuner/store/records.hpp"
#include "tuner/worker/device_worker.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::session {

/// Which configurations of a kernel to look at.
struct BenchPlan {
  space::Size size;
  std::vector<space::Config> configs;  ///< valid at the size, each once
  measure::RoundsPlan finals = {};
  int compile_threads = 1;
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
  std::string role;          ///< "candidate", "default", "library"
  store::TrialRecord trial;  ///< how it was judged, as a run records it; the library is just `ok`
  /// Its times beside the others; absent when it did not end `ok` or the bench was stopped.
  std::optional<store::FinalistRecord> timed;
  std::optional<Place> place;  ///< of a configuration that was timed
};

struct BenchResult {
  std::vector<BenchContender> contenders;  ///< fastest first; then what was not timed, as asked
  int discarded_rounds = 0;                ///< the device was throttled
  std::string library_problem = {};        ///< why the library could not be timed, if so
};

/// Judges each configuration, and the default one where it is valid, as a run would: compiles,
/// verifies, screens. Those that end `ok` are then timed side by side, beside the library; their
/// ratios are to the fastest configuration. Nothing is stored. `stop` is asked between the steps:
/// what was not judged by then is left out. Throws Error for what is no configuration's fault.
[[nodiscard]] BenchResult run_bench(const family::Kernel& kernel, const BenchPlan& plan,
                                    worker::DeviceWorker& device, const backend::Compiler& compiler,
                                    const std::function<bool()>& stop);

}  // namespace tuner::session
