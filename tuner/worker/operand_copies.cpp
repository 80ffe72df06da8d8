// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/operand_copies.hpp"

#include "tuner/backend/moved_work.hpp"
#include "tuner/core/error.hpp"

#include <algorithm>
#include <utility>

namespace tuner::worker {
namespace {

// As far from an aligned address as the original, of which kernels may make use.
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kMostSets = 256;

/// How many sets of so many bytes are three times the cache: one of them is the original.
std::size_t sets_of(std::size_t size_bytes, std::size_t cache_bytes) {
  const std::size_t wanted =
      (3 * cache_bytes + size_bytes - 1) / std::max(size_bytes, std::size_t{1});
  return std::clamp(wanted, std::size_t{1}, kMostSets);
}

}  // namespace

OperandCopies::OperandCopies(backend::Backend& backend,
                             std::vector<verify::Instance::Operand> operands,
                             std::size_t cache_bytes)
    : operands_(std::move(operands)) {
  std::size_t size_bytes = 0;
  for (const verify::Instance::Operand& operand : operands_) {
    const std::size_t aligned = (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
    offsets_.push_back(aligned + operand.region.offset_bytes % kAlignment);
    size_bytes = offsets_.back() + operand.size_bytes;
  }
  const std::size_t sets = sets_of(size_bytes, cache_bytes);
  try {
    while (copies_.size() + 1 < sets) copies_.emplace_back(backend, size_bytes);
  } catch (const Error&) {
    copies_.clear();
  }
  for (const backend::Buffer& copy : copies_) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      backend.copy({copy.id(), offsets_[i]}, operands_[i].region, operands_[i].size_bytes);
    }
  }
}

bool OperandCopies::are_of(std::span<const verify::Instance::Operand> operands) const {
  return std::ranges::equal(operands, operands_, {}, &verify::Instance::Operand::region,
                            &verify::Instance::Operand::region);
}

std::vector<backend::Work> OperandCopies::works(const backend::Work& work) const {
  std::vector<backend::Work> all{work};
  for (const backend::Buffer& copy : copies_) {
    all.push_back(backend::moved(work, [&](backend::Region region) {
      const auto operand = std::ranges::find(operands_, region, &verify::Instance::Operand::region);
      if (operand == operands_.end()) return region;
      return backend::Region(copy.id(),
                             offsets_[static_cast<std::size_t>(operand - operands_.begin())]);
    }));
  }
  return all;
}

}  // namespace tuner::worker
