// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/loaded_kernels.hpp"
#include "tuner/dispatch/measured_choice.hpp"
#include "tuner/dispatch/pins.hpp"
#include "tuner/dispatch/settings.hpp"
#include "tuner/select/rank.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::dispatch {

/// What a plan may take.
enum class PlanChoice {
  any,
  ready,    ///< during a capture: the library, and what is loaded and needs no scratch memory
  library,  ///< for buffers that no kernel takes
};

/// Walks down the answers for a size until one can be launched, and remembers which cannot.
class PlanMaker {
 public:
  /// All of them must outlive this.
  PlanMaker(backend::Executor& executor, LoadedKernels& kernels, ScratchPool& scratch,
            MeasuredChoice& measured, const Pins& pins, const DispatchSettings& settings)
      : executor_(executor),
        kernels_(kernels),
        scratch_(scratch),
        measured_(measured),
        pins_(pins),
        settings_(settings) {}

  /// The best plan that can be launched; else why there is none, for the user.
  [[nodiscard]] Expected<LaunchPlan, std::string> make(const FamilyTable& family,
                                                       const SizeSlot& slot, PlanChoice choice);
  /// A plan by measurement (MeasuredChoice); as make() where the size was tuned or nothing could be
  /// measured. Not during a capture.
  [[nodiscard]] Expected<LaunchPlan, std::string> make_measured(const FamilyTable& family,
                                                                const SizeSlot& slot,
                                                                TrialMemory& memory);
  /// What make_measured() would compile and load one after the other: to be called before, in any
  /// order, by any threads, as long as the family lives.
  [[nodiscard]] std::vector<std::function<void()>> loading(const FamilyTable& family,
                                                           std::shared_ptr<const SizeSlot> slot);
  /// What make() would try first; nothing is compiled.
  [[nodiscard]] Expected<Answer, std::string> foresee(const FamilyTable& family,
                                                      const SizeSlot& slot) const;
  /// A plan of this identity is not made again, unless the failure is transient.
  void remember_failure(const std::string& identity, const Failure& failure);

 private:
  /// Why an answer is skipped before anything is tried; empty when it is not.
  [[nodiscard]] std::string objection(const select::Selection& selection, const SizeSlot& slot,
                                      PlanChoice choice) const;
  /// The answer that is pinned for a size, or the library where none is; else why it cannot be
  /// used.
  [[nodiscard]] Expected<PinnedAnswer, std::string> pinned(const FamilyTable& family,
                                                           const SizeSlot& slot) const;
  [[nodiscard]] Expected<LaunchPlan, std::string> make_pinned(const FamilyTable& family,
                                                              const SizeSlot& slot,
                                                              PlanChoice choice);
  /// Whether the library computes what the family does at a size, with what follows a product.
  [[nodiscard]] bool library_serves(const FamilyTable& family, const SizeSlot& slot) const;
  [[nodiscard]] Expected<LaunchPlan, std::string> attempt(const FamilyTable& family,
                                                          const SizeSlot& slot,
                                                          const select::Selection& selection,
                                                          PlanChoice choice, ScratchPool& scratch);
  [[nodiscard]] Expected<KernelLaunch, std::string> kernel_launch(
      const FamilyTable& family, const SizeSlot& slot, const select::Selection& selection,
      PlanChoice choice, ScratchPool& scratch);
  /// Gives a launch of the library the algorithm of an answer.
  [[nodiscard]] Expected<void, std::string> tune(LibraryLaunch& launch,
                                                 const select::Selection& selection,
                                                 const SizeSlot& slot, PlanChoice choice,
                                                 ScratchPool& scratch);
  [[nodiscard]] Expected<LaunchPlan, std::string> first_that_works(
      const FamilyTable& family, const SizeSlot& slot,
      const std::vector<select::Selection>& answers, PlanChoice choice,
      std::vector<std::string> explanation);

  backend::Executor& executor_;
  LoadedKernels& kernels_;
  ScratchPool& scratch_;
  MeasuredChoice& measured_;
  const Pins& pins_;
  const DispatchSettings& settings_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> failures_;  // why, by identity
};

}  // namespace tuner::dispatch
