// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/plausibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tuner::measure {

std::optional<Failure> implausible(const Demand& demand, double time_ns, const backend::Peak& peak,
                                   double l2_bytes) {
  constexpr double kAbovePeak = 1.05;
  const double seconds = time_ns * 1e-9;
  const auto failure = [&](double rate, double limit, double scale, const char* unit,
                           std::string_view of) {
    return Failure{
        Outcome::implausible,
        fmt::format(
            "{:.3f} µs corresponds to {:.1f} {}, but the device's peak of {} is {:.1f} {}: the "
            "kernel "
            "cannot have done all of its work in the time measured. Look for work it skips, "
            "and at the family's \"flops\" and \"bytes\".",
            time_ns * 1e-3, rate * scale, unit, of, limit * scale, unit)};
  };
  const double flops_per_s = demand.flops / seconds;
  if (peak.flops_per_s > 0 && flops_per_s > kAbovePeak * peak.flops_per_s) {
    return failure(flops_per_s, peak.flops_per_s, 1e-12, "TFLOP/s", name(demand.type));
  }
  const double bytes_per_s = std::max(0.0, demand.bytes - l2_bytes) / seconds;
  if (peak.bytes_per_s > 0 && bytes_per_s > kAbovePeak * peak.bytes_per_s) {
    return failure(bytes_per_s, peak.bytes_per_s, 1e-9, "GB/s", "memory");
  }
  return std::nullopt;
}

}  // namespace tuner::measure
