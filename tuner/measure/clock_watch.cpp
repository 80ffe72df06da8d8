// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/clock_watch.hpp"

#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::measure {

std::vector<double> times(std::span<const backend::Sample> samples) {
  std::vector<double> times_ns(samples.size());
  std::ranges::transform(samples, times_ns.begin(), &backend::Sample::time_ns);
  return times_ns;
}

std::optional<double> median_clock(std::span<const backend::Sample> samples) {
  std::vector<double> clocks;
  for (const backend::Sample& sample : samples) {
    if (sample.clock_mhz) clocks.push_back(*sample.clock_mhz);
  }
  return quantile(clocks, 0.5);
}

bool ClockWatch::steady(const backend::Sample& sample) const {
  // nvbench's 0.75 lets slowdowns of a quarter in; its maintainers advise 0.96 when results wobble
  // (NVIDIA/nvbench #310).
  constexpr double kSteady = 0.96;
  return !baseline_mhz_ || !sample.clock_mhz || *sample.clock_mhz >= kSteady * *baseline_mhz_;
}

void ClockWatch::rebase(std::span<const backend::Sample> samples) {
  if (const auto clock = median_clock(samples)) baseline_mhz_ = clock;
}

Expected<ClockWatch, Failure> learn_clock(backend::Backend& backend, const backend::Work& reference,
                                          WarmUp warm_up,
                                          const std::optional<backend::Work>& before) {
  constexpr int kSamples = 20;
  constexpr double kSettled = 0.005;
  const auto first = backend.time(reference, {.warm_up = 1, .samples = 1, .before = before});
  if (!first) return Unexpected(first.error());
  if (!median_clock(*first)) return ClockWatch{};
  std::optional<double> earlier_mhz;
  for (double warmed_ns = warm_up.step_ns;; warmed_ns += warm_up.step_ns) {
    const auto samples = backend.time(
        reference, {.samples = kSamples, .warm_up_ns = warm_up.step_ns, .before = before});
    if (!samples) return Unexpected(samples.error());
    const auto mhz = median_clock(*samples);
    const bool is_settled =
        mhz && earlier_mhz && std::abs(*mhz - *earlier_mhz) <= kSettled * *earlier_mhz;
    if (!mhz || is_settled || warmed_ns >= warm_up.most_ns) return ClockWatch{mhz};
    earlier_mhz = mhz;
  }
}

}  // namespace tuner::measure
