// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/roofline.hpp"

#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tuner::counters {
namespace {

/// "48.2 TFLOP/s", "860 GB/s".
std::string rate(double per_second, std::string_view unit) {
  constexpr double kGiga = 1e9, kTera = 1e12;
  const bool large = per_second >= kTera;
  return fmt::format("{} {}{}", quantity::number(per_second / (large ? kTera : kGiga), 3),
                     large ? 'T' : 'G', unit);
}

/// Seconds that the work takes at the least; 0 where it needs none or the limit is not known.
double least_seconds(double work, double per_second) {
  return per_second > 0 ? work / per_second : 0;
}

/// Where one of the limits is not known, the work decides: what computes nothing is on the memory's
/// side.
bool is_on_memory_side(const Roofline& roofline) {
  if (roofline.flops <= 0 || roofline.bytes <= 0) return roofline.flops <= 0;
  if (roofline.peak_flops_per_s <= 0) return roofline.peak_bytes_per_s > 0;
  return least_seconds(roofline.bytes, roofline.peak_bytes_per_s) >
         least_seconds(roofline.flops, roofline.peak_flops_per_s);
}

}  // namespace

double share_of_roof(const Roofline& roofline, double time_ns) {
  const double seconds = std::max(least_seconds(roofline.flops, roofline.peak_flops_per_s),
                                  least_seconds(roofline.bytes, roofline.peak_bytes_per_s));
  return time_ns > 0 ? seconds / (time_ns * 1e-9) : 0;
}

std::string roofline_sentence(const Roofline& roofline, double time_ns) {
  if (roofline.flops <= 0 && roofline.bytes <= 0) return "";
  const double seconds = time_ns * 1e-9;
  const bool memory = is_on_memory_side(roofline);
  const bool has_both = roofline.flops > 0 && roofline.bytes > 0;
  const bool is_placed =
      !has_both || (roofline.peak_flops_per_s > 0 && roofline.peak_bytes_per_s > 0);
  std::string text;
  if (has_both) {
    text = fmt::format("{} FLOP/byte, ", quantity::number(roofline.flops / roofline.bytes, 3));
  }
  const double attained = (memory ? roofline.bytes : roofline.flops) / seconds;
  const double peak = memory ? roofline.peak_bytes_per_s : roofline.peak_flops_per_s;
  const std::string_view unit = memory ? "B/s" : "FLOP/s";
  // One limit alone does not say which of the two is nearer.
  if (is_placed) text += memory ? "memory side: " : "compute side: ";
  text += rate(attained, unit);
  if (peak <= 0) return text;
  return text +
         fmt::format(", {:.0f} % of the nominal {}", 100 * attained / peak, rate(peak, unit));
}

}  // namespace tuner::counters
