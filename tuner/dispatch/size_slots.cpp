// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/size_slots.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace tuner::dispatch {

SizeSlots::SizeSlots(EpochReclaimer& reclaimer)
    : reclaimer_(reclaimer), index_(std::make_unique<Index>()) {
  current_ = index_.get();
}

SizeSlots::~SizeSlots() = default;

void SizeSlots::index(SizeSlot& slot, std::size_t given) {
  slot.lengths_ |= std::uint32_t{1} << given;
  index_->put(std::span(slot.size).first(given), &slot);
}

/// A new index of what stays: what is kept, and the latest of those that were used, as long as they
/// leave room for as many others.
SizeSlots::Dropped SizeSlots::drop() {
  Dropped dropped{.index = std::exchange(index_, std::make_unique<Index>()), .slots = {}};
  std::vector<std::shared_ptr<SizeSlot>> staying;
  droppable_ = 0;
  for (auto& slot : std::views::reverse(slots_)) {
    const bool was_used = slot->is_used.exchange(false, std::memory_order_relaxed);
    const bool is_kept = slot->life_ == SlotLife::kept;
    const bool stays = is_kept || (was_used && droppable_ < kMostDroppable / 2);
    if (stays && !is_kept) ++droppable_;
    (stays ? staying : dropped.slots).push_back(std::move(slot));
  }
  slots_.assign(std::make_move_iterator(staying.rbegin()), std::make_move_iterator(staying.rend()));
  for (const auto& slot : slots_) {
    for (std::size_t given = 0; given <= slot->size.size(); ++given) {
      if ((slot->lengths_ >> given & 1U) != 0) index(*slot, given);
    }
  }
  current_.store(index_.get(), std::memory_order_release);
  return dropped;
}

std::shared_ptr<SizeSlot> SizeSlots::get(std::span<const std::int64_t> numbers) const {
  const auto section = reclaimer_.enter();
  SizeSlot* const slot = find(numbers);
  return slot == nullptr ? nullptr : slot->shared_from_this();
}

std::shared_ptr<SizeSlot> SizeSlots::add(std::shared_ptr<SizeSlot> slot, std::size_t given,
                                         SlotLife life) {
  Dropped dropped;
  {
    const std::scoped_lock lock(mutex_);
    if (SizeSlot* const known = index_->find(slot->size)) {
      slot = known->shared_from_this();
    } else {
      if (droppable_ >= kMostDroppable) dropped = drop();
      ++droppable_;
      slots_.push_back(slot);
      index(*slot, slot->size.size());
    }
    if (slot->life_ == SlotLife::droppable && life == SlotLife::kept) {
      slot->life_ = life;
      --droppable_;
    }
    if ((slot->lengths_ >> given & 1U) == 0) index(*slot, given);
  }
  if (dropped.index != nullptr) reclaimer_.wait();  // then no thread uses the dropped one
  return slot;
}

std::vector<std::shared_ptr<SizeSlot>> SizeSlots::all() const {
  const std::scoped_lock lock(mutex_);
  return slots_;
}

void SizeSlots::let_go(SizeSlot& slot) {
  const std::scoped_lock lock(mutex_);
  if (slot.life_ == SlotLife::kept) ++droppable_;
  slot.life_ = SlotLife::droppable;
}

}  // namespace tuner::dispatch
