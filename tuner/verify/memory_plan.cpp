// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/memory_plan.hpp"

#include <algorithm>

namespace tuner {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLeastZone = std::size_t{4} << 10;
constexpr std::size_t kLargestZone = std::size_t{1} << 20;
constexpr std::size_t kWord = 4;

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
  const auto place = [&](std::optional<std::size_t>& offset, const CheckedData& data) {
    if (!offset) return;
    offset = aligned(plan.reference_bytes) + data.offset_bytes();
    plan.reference_bytes = *offset + data.size_bytes();
  };
  for (CheckedData& data : plan.data) {
    place(data.expected, data);
    place(data.magnitude, data);
    place(data.initial, data);
  }
  const std::size_t unchanged_bytes = plan.reference_bytes;
  for (CheckedData& data : plan.data) place(data.repeat, data);
  return unchanged_bytes;
}

CheckPart plain_part(CheckPart::Kind kind, std::size_t offset, std::size_t size_bytes) {
  return {.kind = kind,
          .type = 0,
          .offset = static_cast<long long>(offset),
          .count = 0,
          .words = static_cast<long long>(size_bytes / kWord),
          .expected = -1,
          .before = -1,
          .magnitude = -1,
          .initial = -1,
          .factor = 0};
}

CheckPart data_part(CheckPart::Kind kind, const CheckedData& data) {
  const auto place = [](const std::optional<std::size_t>& offset) {
    return offset ? static_cast<long long>(*offset) : -1;
  };
  CheckPart part = plain_part(kind, data.candidate, data.size_bytes());
  part.type = static_cast<int>(data.type);
  part.count = data.count;
  part.expected = place(data.expected);
  part.before = kind == CheckPart::repeat ? place(data.repeat) : -1;
  part.magnitude = data.factor > 0 ? place(data.magnitude) : -1;
  part.initial = place(data.initial);
  part.factor = data.factor;
  return part;
}

}  // namespace

std::int64_t in_whole_words(ElementType type, std::int64_t count) {
  return size_bytes(type) < kWord ? count + count % 2 : count;
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
  add(CheckPart::output, [](const CheckedData& one) { return one.expected.has_value(); });
  add(CheckPart::repeat, [](const CheckedData& one) { return one.repeat.has_value(); });
  add(CheckPart::input, [](const CheckedData& one) { return one.role == BufferRole::input; });
  plan.parts.push_back(plain_part(CheckPart::reference, 0, unchanged_bytes));
  for (const GuardZone& zone : plan.zones) {
    plan.parts.push_back(plain_part(CheckPart::guard, zone.offset, zone.size_bytes));
  }
  return plan;
}

}  // namespace tuner
