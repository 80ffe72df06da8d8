// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/block_turns.hpp"

#include <algorithm>
#include <utility>

namespace tuner::backend {
namespace {

/// Pending words of a launch: more are shown at once, which hides a missing fence only.
constexpr std::size_t kMostWords = std::size_t{1} << 20;
/// After so many turns of each block without anything new for the others, all of them wait.
constexpr unsigned kVainTurns = 64;

}  // namespace

BlockTurns::~BlockTurns() {
  for (PendingWrites& writes : ended_) writes.exchange();
}

void BlockTurns::begin(PendingWrites& writes) {
  std::binary_semaphore turn(0);
  {
    const std::scoped_lock lock(mutex_);
    if (taken_) waiting_.push_back(&turn);
    if (!std::exchange(taken_, true)) turn.release();
  }
  await(turn);
  blocks_.insert(&writes);
  yields_ = 0;
}

void BlockTurns::end(PendingWrites& writes) {
  blocks_.erase(&writes);
  yields_ = 0;
  writes.exchange();
  ended_words_ += writes.words();
  if (writes.words() > 0) ended_.push_back(std::exchange(writes, {}));
  const std::scoped_lock lock(mutex_);
  pass_on();
}

void BlockTurns::yield(PendingWrites& writes) {
  if (++yields_ > kVainTurns * blocks_.size()) show_all(writes);
  std::binary_semaphore turn(0);
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return;
    writes.exchange();
    waiting_.push_back(&turn);
    pass_on();
  }
  await(turn);
  writes.exchange();
}

void BlockTurns::await(std::binary_semaphore& turn) {
  turn.acquire();
  const std::scoped_lock lock(mutex_);  // who released it is through with it
}

void BlockTurns::pass_on() {
  taken_ = !waiting_.empty();
  if (!taken_) return;
  waiting_.front()->release();
  waiting_.pop_front();
}

void BlockTurns::write(PendingWrites& writes, const void* address, std::size_t size_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (is_shared(begin) && writes.words() + ended_words_ < kMostWords) {
    writes.note(begin, size_bytes);
  }
}

void BlockTurns::write_for_all(PendingWrites& writes, const void* address, std::size_t size_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (!is_shared(begin)) return;
  writes.forget(begin, size_bytes);
  yields_ = 0;
}

void BlockTurns::show(PendingWrites& writes) {
  if (writes.words() > 0) yields_ = 0;
  writes.forget();
}

bool BlockTurns::is_shared(std::uintptr_t address) const {
  const auto behind = std::ranges::upper_bound(memory_, address, {}, [](std::span<std::byte> range) {
    return reinterpret_cast<std::uintptr_t>(range.data());
  });
  if (behind == memory_.begin()) return false;
  const std::span<std::byte> range = *std::prev(behind);
  return address - reinterpret_cast<std::uintptr_t>(range.data()) < range.size();
}

void BlockTurns::show_all(PendingWrites& of_turn) {
  yields_ = 0;
  of_turn.forget();
  for (PendingWrites& writes : ended_) writes.exchange();
  ended_.clear();
  ended_words_ = 0;
  for (PendingWrites* const writes : blocks_) {
    writes->exchange();
    writes->forget();
  }
}

}  // namespace tuner::backend
