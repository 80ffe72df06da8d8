// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/kept_measurement.hpp"
#include "tuner/dispatch/launch_plan.hpp"
#include "tuner/dispatch/measurement_lock.hpp"
#include "tuner/dispatch/settings.hpp"
#include "tuner/dispatch/trial_launches.hpp"
#include "tuner/select/rank.hpp"

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tuner::dispatch {

/// Chooses at sizes that were not tuned by what launches take. What was measured is kept: of all
/// processes with one cache, one measures a size, and the others take its choice.
class MeasuredChoice {
 public:
  /// The references must outlive this. `locks`: a folder of the user's; empty where nothing is
  /// kept.
  MeasuredChoice(backend::Executor& executor, backend::BinaryCache& cache,
                 std::filesystem::path locks, const DispatchSettings& settings)
      : executor_(executor), cache_(cache), locks_(std::move(locks)), settings_(settings) {}

  /// A size, and the answers that a table has for it.
  struct Question {
    const FamilyTable& family;
    const SizeSlot& slot;
    const select::Ranking& ranking;
  };
  /// Makes a plan of one of them, compiled and loaded; else why there is none.
  using MakePlan =
      std::function<Expected<LaunchPlan, std::string>(const select::Selection&, ScratchPool&)>;

  /// The answers that ran, first the one to take, and a line on each; none, and a line on why,
  /// where nothing could be measured.
  [[nodiscard]] std::vector<select::Selection> choose(const Question& question,
                                                      const MakePlan& make_plan,
                                                      TrialMemory& memory,
                                                      std::vector<std::string>& explanation);

  /// What choose() will need a plan of. Others do not measure the size while `lock` lives.
  struct Needed {
    std::vector<select::Selection> selections;
    std::shared_ptr<const MeasurementLock> lock;
  };
  /// Nothing where another process is about to measure.
  [[nodiscard]] Needed needed(const Question& question) const;

 private:
  /// What was measured now.
  struct Measured {
    std::vector<MeasuredCandidate> candidates;  ///< in the order of preference
    bool is_complete = true;                    ///< nothing that should have run was left out
    std::string summary;                        ///< what it took
  };
  [[nodiscard]] KeptMeasurement kept(const Question& question) const;
  /// What is kept, as answers; none where nothing fits.
  [[nodiscard]] std::optional<std::vector<MeasuredCandidate>> known(const Question& question) const;
  [[nodiscard]] bool may_keep() const { return settings_.tuned == TunedKernels::used; }
  [[nodiscard]] Expected<Measured, Failure> measure(const Question& question,
                                                    const MakePlan& make_plan, TrialMemory& memory);
  /// Algorithms of the library at the size; none where the library does not serve it.
  [[nodiscard]] std::vector<std::string> algorithms(const Question& question,
                                                    const TrialLaunches& launches);

  backend::Executor& executor_;
  backend::BinaryCache& cache_;
  std::filesystem::path locks_;
  const DispatchSettings& settings_;
  std::mutex measuring_;  // one size at a time, or they would slow each other down
};

}  // namespace tuner::dispatch
