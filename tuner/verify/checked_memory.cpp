// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/checked_memory.hpp"

#include <cstring>
#include <vector>

namespace tuner::verify {
namespace {

constexpr PartReport kNothingFound{
    .wrong = 0, .first = ~0ULL, .last = 0, .worst = 0, .squares = 0, .fingerprint = 0};

std::size_t table_bytes(const MemoryPlan& plan) {
  return plan.parts.size() * sizeof(CheckPart);
}

std::size_t reports_bytes(const MemoryPlan& plan) {
  return plan.parts.size() * sizeof(PartReport);
}

}  // namespace

CheckedMemory::CheckedMemory(backend::Backend& backend, MemoryPlan plan)
    : plan_(std::move(plan)),
      candidate_(std::make_shared<backend::Buffer>(backend, plan_.candidate_bytes)),
      reference_(backend, plan_.reference_bytes),
      table_(backend, table_bytes(plan_) + 2 * reports_bytes(plan_) + sizeof(unsigned long long)) {
  write_table(backend);
}

CheckedMemory::CheckedMemory(backend::Backend& backend, MemoryPlan plan, const CheckedMemory& other)
    : plan_(std::move(plan)),
      candidate_(other.candidate_),
      reference_(backend, plan_.reference_bytes),
      table_(backend, table_bytes(plan_) + 2 * reports_bytes(plan_) + sizeof(unsigned long long)) {
  write_table(backend);
}

void CheckedMemory::write_table(backend::Backend& backend) {
  std::vector<std::byte> content(table_.size_bytes());  // all zero: no block is done
  std::memcpy(content.data(), plan_.parts.data(), table_bytes(plan_));
  for (std::size_t i = 0; i < plan_.parts.size(); ++i) {
    std::memcpy(content.data() + gathered().offset_bytes + i * sizeof kNothingFound, &kNothingFound,
                sizeof kNothingFound);
  }
  backend.write(table_.id(), content);
}

void CheckedMemory::require_equality(backend::Backend& backend) {
  for (CheckPart& part : plan_.parts) part.allowed = CheckPart::none;
  write_table(backend);
}

std::vector<backend::Region> CheckedMemory::candidates(std::size_t arguments) const {
  std::vector<backend::Region> regions(arguments);
  for (const CheckedData& data : plan_.data) regions[data.argument] = candidate(data.candidate);
  return regions;
}

backend::Region CheckedMemory::gathered() const {
  return {table_.id(), table_bytes(plan_)};
}

backend::Region CheckedMemory::reports() const {
  return {table_.id(), table_bytes(plan_) + reports_bytes(plan_)};
}

backend::Region CheckedMemory::blocks_done() const {
  return {table_.id(), table_bytes(plan_) + 2 * reports_bytes(plan_)};
}

}  // namespace tuner::verify
