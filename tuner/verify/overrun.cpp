// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/overrun.hpp"

#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::verify {
namespace {}  // namespace

std::string overrun_text(const MemoryPlan& plan, const CheckPart& guard, const PartReport& report) {
  const auto offset = static_cast<std::size_t>(guard.offset);
  const auto next =
      std::ranges::find_if(plan.zones, [&](const GuardZone& zone) { return zone.offset > offset; });
  const auto zone = static_cast<std::size_t>(next - plan.zones.begin()) - 1;
  const bool behind = zone > 0 && offset == plan.zones[zone].offset;  // its first half
  const std::uint64_t words_before_next = static_cast<std::uint64_t>(guard.words) - report.last;
  const CheckedData& data = plan.data[behind ? zone - 1 : zone];
  const std::uint64_t element_bytes = family::size_bytes(data.type);
  const std::string zone_text =
      fmt::format("{} of the guard zone changed", quantity::count(report.wrong, "word"));
  if (behind) {
    return fmt::format(
        "wrote {}[{}], beyond the end of its {}; {}", data.name,
        static_cast<std::uint64_t>(data.count) + report.first * kWordBytes / element_bytes,
        quantity::count(static_cast<std::uint64_t>(data.count), "element"), zone_text);
  }
  return fmt::format("wrote {}[-{}], before its start; {}", data.name,
                     (words_before_next * kWordBytes + element_bytes - 1) / element_bytes,
                     zone_text);
}

}  // namespace tuner::verify
