// SPDX-License-Identifier: Apache-2.0
// Module measure: how long a kernel takes: samples, statistics, screening, and final rounds in
// which contenders take turns.
#pragma once

#include "tuner/backend/backend.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tuner::measure {

/// The times of samples, in nanoseconds.
[[nodiscard]] std::vector<double> times(std::span<const backend::Sample> samples);

/// The median clock of samples, in MHz; absent when none of them knows its own.
[[nodiscard]] std::optional<double> median_clock(std::span<const backend::Sample> samples);

/// What a run holds its samples' clocks against: the clock its device ran at when it was warm,
/// not the one in its data sheet, which a device at its power limit never reaches.
class ClockWatch {
 public:
  /// Without a baseline every sample is steady.
  ClockWatch() = default;
  explicit ClockWatch(std::optional<double> baseline_mhz) : baseline_mhz_(baseline_mhz) {}

  [[nodiscard]] std::optional<double> baseline_mhz() const { return baseline_mhz_; }

  /// Whether the device ran at no less than 96 % of the baseline meanwhile, as far as is known.
  [[nodiscard]] bool steady(const backend::Sample& sample) const;
  /// Takes the median clock of these samples, when they know it, for the baseline from now on.
  void rebase(std::span<const backend::Sample> samples);

 private:
  std::optional<double> baseline_mhz_;
};

/// How long a device runs before its clock is read: in steps, until the clock after one deviates
/// from that after the step before by at most 0.5 %, which is less than one of its own steps.
struct WarmUp {
  double step_ns, most_ns;  ///< equal: one step
};
inline constexpr WarmUp kWarmUpFromRest{1e9, 1e9};
inline constexpr WarmUp kWarmUpAfterOtherWork{0.1e9, 0.5e9};

/// A watch whose baseline is the median clock of 20 samples of `reference`, taken after the device
/// has run it for `warm_up`, each after `before`, as SamplePlan has it. A device that does not
/// know its clock runs it twice, and every sample on it is steady. Fails as Backend::time does.
[[nodiscard]] Expected<ClockWatch, Failure> learn_clock(
    backend::Backend& backend, const backend::Work& reference, WarmUp warm_up = kWarmUpFromRest,
    const std::optional<backend::Work>& before = {});

}  // namespace tuner::measure
