// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/measure/clock_watch.hpp"
#include "tuner/measure/measurement.hpp"

#include <cstddef>
#include <vector>

namespace tuner::measure {

/// The samples of one piece of work that were taken at a steady clock, and those that were not.
class SteadySampler {
 public:
  /// All must outlive it. Of the plan it takes the pause after the first samples at a fallen clock,
  /// and the work before every run.
  SteadySampler(backend::Backend& backend, const backend::Work& work, ClockWatch& watch,
                const ScreenPlan& plan)
      : backend_(backend), work_(work), watch_(watch), plan_(plan) {}

  /// Takes samples until `count` are kept. After three discarded for each kept the clock is taken
  /// for granted and every sample so far is dropped, once; then it fails as `unstable`.
  Expected<void, Failure> reach(int count);

  [[nodiscard]] const std::vector<backend::Sample>& kept() const { return kept_; }
  [[nodiscard]] int discarded() const { return static_cast<int>(dropped_ + fallen_.size()); }
  [[nodiscard]] bool power_capped() const { return power_capped_; }

 private:
  void sort_out(const std::vector<backend::Sample>& samples);
  [[nodiscard]] bool hopeless(int count) const;
  [[nodiscard]] Failure unstable() const;
  void pause();

  backend::Backend& backend_;
  const backend::Work& work_;
  ClockWatch& watch_;
  const ScreenPlan& plan_;
  std::vector<backend::Sample> kept_;
  std::vector<backend::Sample> fallen_;  ///< discarded since the baseline was last set
  std::size_t dropped_ = 0;              ///< before that
  int pauses_ = 0;
  bool rebased_ = false;
  bool power_capped_ = false;
};

}  // namespace tuner::measure
