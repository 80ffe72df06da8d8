// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/measurement.hpp"

namespace tuner {

Expected<Measurement, Failure> screen(Backend& backend, const Work& work, const ScreenPlan& plan,
                                      std::optional<double> best_ns) {
  auto samples = backend.time(work, {.warm_up = plan.warm_up, .samples = plan.probe_samples});
  if (!samples) return Unexpected(std::move(samples.error()));
  const double fastest = summarise(*samples)->minimum;
  if (!best_ns || fastest <= plan.hopeless_factor * *best_ns) {
    auto more =
        backend.time(work, {.warm_up = 0, .samples = plan.full_samples - plan.probe_samples});
    if (!more) return Unexpected(std::move(more.error()));
    samples->insert(samples->end(), more->begin(), more->end());
  }
  Measurement measurement{.samples_ns = std::move(*samples), .summary = {}};
  measurement.summary = *summarise(measurement.samples_ns);
  return measurement;
}

}  // namespace tuner
