// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/plausibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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

std::optional<Failure> contradiction(const Timing& timing) {
  constexpr double kCannotBe = 3;
  if (!timing.time || (!timing.hot_ns && !timing.series_ns)) return std::nullopt;
  const double cold_ns = timing.time->median_ns;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double warm_ns =
      std::min(timing.hot_ns.value_or(kNever), timing.series_ns.value_or(kNever));
  if (warm_ns <= kCannotBe * cold_ns) return std::nullopt;
  return Failure{Outcome::implausible,
                 fmt::format("a launch from a cold cache takes {:.3f} µs, in a series of launches "
                             "{:.3f} µs, {:.1f} times as long: the kernel cannot do the same work "
                             "in both. Look for work that depends on how it is launched, on old "
                             "content of outputs or on values kept from earlier launches.",
                             cold_ns * 1e-3, warm_ns * 1e-3, warm_ns / cold_ns)};
}

}  // namespace tuner::measure
