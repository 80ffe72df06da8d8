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

bool is_input(const verify::Instance::Operand& operand) {
  return operand.role == family::BufferRole::input;
}

}  // namespace

OperandCopies::OperandCopies(backend::Backend& backend,
                             std::vector<verify::Instance::Operand> operands,
                             std::size_t cache_bytes)
    : backend_(backend), operands_(std::move(operands)) {
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
  copy_to_sets(1, 1);
}

OperandCopies::OperandCopies(backend::Backend& backend, verify::Instance& instance,
                             std::size_t cache_bytes)
    : OperandCopies(backend, instance.operands(), cache_bytes) {
  instance.prepare_launch();
  poison_ = instance.poison();
  verify::Instance* const changed = instance.changed();
  // What is updated in place cannot be told from what a launch before left.
  if (changed != nullptr && !instance.updates_in_place() && instance.writes_all() &&
      changed->writes_all()) {
    try {
      if (sets() % 2 == 1) {
        copies_.emplace_back(backend, offsets_.back() + operands_.back().size_bytes);
      }
      has_changed_ = true;
    } catch (const Error&) {
      // Memory is short: all sets hold the same inputs.
    }
  }
  copy_to_sets(1, 1);
  if (!has_changed_) return;
  changed->prepare_inputs();
  copy_to_sets(1, 2);
  instance.prepare_inputs();
}

void OperandCopies::copy_to_sets(std::size_t first, std::size_t step) {
  for (std::size_t set = first; set < sets(); set += step) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      backend_.copy(region(set, i), operands_[i].region, operands_[i].size_bytes);
    }
  }
}

bool OperandCopies::are_of(std::span<const verify::Instance::Operand> operands) const {
  return std::ranges::equal(operands, operands_, {}, &verify::Instance::Operand::region,
                            &verify::Instance::Operand::region);
}

backend::Region OperandCopies::region(std::size_t set, std::size_t operand) const {
  if (set == 0) return operands_[operand].region;
  return {copies_[set - 1].id(), offsets_[operand]};
}

std::vector<backend::Region> OperandCopies::outputs(std::size_t set) const {
  std::vector<backend::Region> all;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!is_input(operands_[i])) all.push_back(region(set, i));
  }
  return all;
}

backend::Work OperandCopies::moved(const backend::Work& work, std::size_t inputs,
                                   std::size_t outputs) const {
  return backend::moved(work, [&](backend::Region original) {
    const auto operand = std::ranges::find(operands_, original, &verify::Instance::Operand::region);
    if (operand == operands_.end()) return original;
    return region(is_input(*operand) ? inputs : outputs,
                  static_cast<std::size_t>(operand - operands_.begin()));
  });
}

std::vector<OperandCopies::Run> OperandCopies::runs(const backend::Work& work,
                                                    Outputs outputs) const {
  const std::size_t shift = outputs == Outputs::next && has_changed_ ? 1 : 0;
  std::vector<Run> all;
  for (std::size_t set = 0; set < sets(); ++set) {
    const std::size_t written = (set + shift) % sets();
    all.push_back({.work = moved(work, set, written),
                   .outputs = written,
                   .is_changed = has_changed_ && set % 2 == 1});
  }
  return all;
}

}  // namespace tuner::worker
