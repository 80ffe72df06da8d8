// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/library_time.hpp"

#include <vector>

namespace tuner::session {

Expected<std::optional<LibraryTime>, Failure> time_library(worker::DeviceWorker& device,
                                                           const space::Size& size) {
  constexpr int kWarmUp = 2;
  constexpr int kSamples = 20;
  constexpr double kMostSamplingNs = 1e9;
  device.begin_side_by_side(size);
  const auto added = device.add_library({});
  if (!added) return Unexpected(added.error());
  if (!*added) return std::optional<LibraryTime>();
  std::vector<double> samples, clocks_mhz;
  double spent_ns = 0;
  for (int i = 0; i < kWarmUp + kSamples; ++i) {
    const auto sample = device.time_contender(0);
    if (!sample) return Unexpected(sample.error());
    if (i >= kWarmUp) {
      samples.push_back(sample->time_ns);
      if (sample->clock_mhz) clocks_mhz.push_back(*sample->clock_mhz);
    }
    spent_ns += sample->time_ns;
    if (spent_ns > kMostSamplingNs && !samples.empty()) break;
  }
  return std::optional(LibraryTime{.time = *measure::summarise(samples),
                                   .clock_mhz = measure::quantile(clocks_mhz, 0.5)});
}

Expected<std::optional<double>, Failure> time_library_series(worker::DeviceWorker& device) {
  constexpr int kWarmUp = 1;
  constexpr int kSeries = 5;
  std::vector<double> times_ns;
  for (int i = 0; i < kWarmUp + kSeries; ++i) {
    const auto time_ns = device.time_contender_series(0, backend::Lead::none);
    if (!time_ns) return Unexpected(time_ns.error());
    if (!*time_ns) return std::optional<double>();
    if (i >= kWarmUp) times_ns.push_back(**time_ns);
  }
  return measure::quantile(times_ns, 0.5);
}

}  // namespace tuner::session
