// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/memory_plan.hpp"

#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::verify {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLeastZone = std::size_t{4} << 10;
constexpr std::size_t kLargestZone = std::size_t{1} << 20;
std::size_t aligned(std::size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

void place_candidate_data(MemoryPlan& plan) {
  std::size_t largest = 0;
  for (const CheckedData& data : plan.data) largest = std::max(largest, data.size_bytes());
  const std::size_t zone = aligned(std::clamp(largest / 8, kLeastZone, kLargestZone));
  std::size_t end = 0;
  for (CheckedData& data : plan.data) {
    data.candidate = aligned(end + zone) + data.offset_bytes();
    plan.zones.push_back({end, data.candidate - end});
    end = data.candidate + data.size_bytes();
  }
  plan.zones.push_back({end, zone});
  plan.candidate_bytes = end + zone;
}

/// Places what is to stay as it is, then the repetitions; the bytes of the former.
std::size_t place_reference_data(MemoryPlan& plan) {
  const auto place = [&](std::optional<std::size_t>& offset, const CheckedData& data,
                         std::size_t size_bytes) {
    if (!offset) return;
    offset = aligned(plan.reference_bytes) + data.offset_bytes();
    plan.reference_bytes = *offset + size_bytes;
  };
  for (CheckedData& data : plan.data) {
    place(data.expected, data, data.size_bytes());
    place(data.allowed, data, data.errors_bytes());
    place(data.initial, data, data.size_bytes());
    if (data.rows) {
      data.rows = aligned(plan.reference_bytes);
      plan.reference_bytes = *data.rows + data.rows_bytes();
    }
  }
  const std::size_t unchanged_bytes = plan.reference_bytes;
  for (CheckedData& data : plan.data) place(data.repeat, data, data.size_bytes());
  return unchanged_bytes;
}

CheckPart plain_part(CheckPart::Kind kind, std::size_t offset, std::size_t size_bytes) {
  return {.kind = kind,
          .type = 0,
          .offset = static_cast<long long>(offset),
          .count = 0,
          .words = static_cast<long long>(size_bytes / kWordBytes),
          .expected = CheckPart::none,
          .before = CheckPart::none,
          .allowed = CheckPart::none,
          .initial = CheckPart::none,
          .rows = CheckPart::none,
          .records = 0,
          .elements = 1,
          .element_bytes = 0,
          .next = static_cast<int>(CheckPart::none)};
}

CheckPart data_part(CheckPart::Kind kind, const CheckedData& data) {
  const auto place = [](const std::optional<std::size_t>& offset) {
    return offset ? static_cast<long long>(*offset) : CheckPart::none;
  };
  CheckPart part = plain_part(kind, data.candidate, data.size_bytes());
  part.type = static_cast<int>(data.type);
  part.count = data.count;
  part.expected = place(data.expected);
  part.before = kind == CheckPart::repeat ? place(data.repeat) : CheckPart::none;
  part.allowed = place(data.allowed);
  part.initial = data.starts_zero ? CheckPart::zeros : place(data.initial);
  if (data.records) {
    part.rows = data.rows ? place(data.rows) : CheckPart::another;
    part.records = data.records->records;
    part.elements = data.records->elements;
    part.element_bytes = static_cast<int>(family::element_bytes(data.type));
  }
  return part;
}

/// Links the parts of this kind whose records belong together.
void link_parts(MemoryPlan& plan, CheckPart::Kind kind) {
  const auto find = [&](const CheckedData& data) {
    return std::ranges::find_if(plan.parts, [&](const CheckPart& part) {
      return part.kind == kind && part.offset == static_cast<long long>(data.candidate);
    });
  };
  for (const CheckedData& data : plan.data) {
    if (!data.records || data.records->as.empty()) continue;
    const auto follower = find(data);
    if (follower == plan.parts.end()) continue;
    auto last = find(*std::ranges::find(plan.data, data.records->as, &CheckedData::name));
    while (last->next >= 0) last = plan.parts.begin() + last->next;
    last->next = static_cast<int>(follower - plan.parts.begin());
  }
}

/// The two parts of a guard zone: the first half is poisoned like the data before it, the second
/// like the data behind it.
void add_guard(MemoryPlan& plan, std::size_t zone) {
  const GuardZone& place = plan.zones[zone];
  // Whole elements of 8 bytes lie between a part's start and the data, wherever these begin.
  const std::size_t half = zone == 0 ? 0
                           : zone == plan.data.size()
                               ? place.size_bytes
                               : aligned(place.offset + place.size_bytes / 2) - place.offset;
  const auto add = [&](std::size_t offset, std::size_t size_bytes, std::size_t neighbour) {
    if (size_bytes == 0) return;
    CheckPart part = plain_part(CheckPart::guard, offset, size_bytes);
    part.type = static_cast<int>(plan.data[neighbour].type);
    plan.parts.push_back(part);
  };
  if (zone > 0) add(place.offset, half, zone - 1);
  if (zone < plan.data.size()) add(place.offset + half, place.size_bytes - half, zone);
}

}  // namespace

std::int64_t in_whole_words(family::ElementType type, std::int64_t count) {
  const auto elements =
      static_cast<std::int64_t>(std::max<std::size_t>(1, family::elements_in(type, kWordBytes)));
  return (count + elements - 1) / elements * elements;
}

MemoryPlan plan_memory(std::vector<CheckedData> data) {
  MemoryPlan plan;
  plan.data = std::move(data);
  place_candidate_data(plan);
  const std::size_t unchanged_bytes = place_reference_data(plan);
  const auto add = [&](CheckPart::Kind kind, auto belongs) {
    for (const CheckedData& one : plan.data) {
      if (belongs(one)) plan.parts.push_back(data_part(kind, one));
    }
  };
  // First those in place: they may say how many of the others count.
  add(CheckPart::output, [](const CheckedData& one) { return one.expected && !one.records; });
  add(CheckPart::output, [](const CheckedData& one) { return one.expected && one.records; });
  add(CheckPart::repeat, [](const CheckedData& one) { return one.repeat.has_value(); });
  add(CheckPart::input,
      [](const CheckedData& one) { return one.role == family::BufferRole::input; });
  plan.parts.push_back(plain_part(CheckPart::reference, 0, unchanged_bytes));
  for (std::size_t zone = 0; zone < plan.zones.size(); ++zone) add_guard(plan, zone);
  link_parts(plan, CheckPart::output);
  link_parts(plan, CheckPart::repeat);
  return plan;
}

std::string overrun_text(const MemoryPlan& plan, const CheckPart& guard, const PartReport& report) {
  const auto offset = static_cast<std::size_t>(guard.offset);
  const auto next =
      std::ranges::find_if(plan.zones, [&](const GuardZone& zone) { return zone.offset > offset; });
  const auto zone = static_cast<std::size_t>(next - plan.zones.begin()) - 1;
  const bool behind = zone > 0 && offset == plan.zones[zone].offset;  // its first half
  const std::uint64_t words_before_next = static_cast<std::uint64_t>(guard.words) - report.last;
  const CheckedData& data = plan.data[behind ? zone - 1 : zone];
  const std::uint64_t element_bytes = family::element_bytes(data.type);
  const std::string zone_text =
      fmt::format("{} of the guard zone changed", quantity::count(report.wrong, "word"));
  if (behind) {
    return fmt::format(
        "wrote {}[{}], beyond the end of its {}; {}", data.name,
        static_cast<std::uint64_t>(data.count) + report.first * kWordBytes / element_bytes,
        quantity::count(static_cast<std::uint64_t>(data.used), "element"), zone_text);
  }
  return fmt::format("wrote {}[-{}], before its start; {}", data.name,
                     (words_before_next * kWordBytes + element_bytes - 1) / element_bytes,
                     zone_text);
}

}  // namespace tuner::verify
