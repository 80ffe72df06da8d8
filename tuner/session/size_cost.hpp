// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/store/records.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::session {

/// What trials took. A kernel that several of them use counts where it was first used.
struct TrialCost {
  std::uint64_t trials = 0;
  double compile_s = 0;  ///< added up over all compilers
  double device_s = 0;   ///< to verify and to measure
};

/// What the search at one size took in a run.
struct SizeCost {
  std::string problem;
  TrialCost all;
  std::uint64_t shared = 0;  ///< trials whose kernel had been compiled for an earlier one
  /// Up to the first trial within kNearBest of the run's best, that one included; none when no
  /// trial ended `ok`.
  std::optional<TrialCost> to_near_best = {};
  /// Likewise, by the clock, from the beginning of the size's first trial. Other sizes may have
  /// been searched in between.
  double elapsed_s = 0;
};
inline constexpr double kNearBest = 1.03;

/// Of the trials of one run, in order: what each size took, in the order they were begun.
[[nodiscard]] std::vector<SizeCost> size_costs(std::span<const store::StoredTrial> trials);

}  // namespace tuner::session
