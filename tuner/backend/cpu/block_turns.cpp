// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/block_turns.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tuner::backend {
namespace {

/// Pending words of a launch: more are shown at once, which hides a missing fence only.
constexpr std::size_t kMostWords = std::size_t{1} << 20;
/// After so many turns of each block without anything new for the others, all of them wait.
constexpr unsigned kVainTurns = 8;

}  // namespace

BlockTurns::~BlockTurns() {
  for (PendingWrites& writes : ended_) writes.exchange();
}

void BlockTurns::begin(TurnTaker& block) {
  std::binary_semaphore turn(0);
  {
    const std::scoped_lock lock(mutex_);
    ++present_;
    if (begun_ && !taken_) {
      taken_ = true;  // before those that yielded to it
      turn.release();
    } else {
      waiting_.push_back(&turn);
    }
    if (!begun_ && present_ == expected()) {
      begun_ = true;
      pass_on();
    }
  }
  await(turn);
  blocks_.insert(&block);
  yields_ = 0;
}

void BlockTurns::end(TurnTaker& block) {
  blocks_.erase(&block);
  yields_ = 0;
  block.writes.exchange();
  ended_words_ += block.writes.words();
  if (block.writes.words() > 0) ended_.push_back(std::move(block.writes));
  block = {};
  const std::scoped_lock lock(mutex_);
  --present_;
  ++ended_blocks_;
  if (is_last()) release_held();
  pass_on();
}

void BlockTurns::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  release_held();
  if (!taken_) pass_on();
}

std::uint64_t BlockTurns::expected() const {
  if (stopped_) return 0;
  return std::min<std::uint64_t>(plan_.workers, plan_.blocks - ended_blocks_);
}

void BlockTurns::yield(TurnTaker& block) {
  hold_if_due(block);
  const bool all_wait = ++yields_ > kVainTurns * blocks_.size();
  if (all_wait) show_where_all_wait(block);
  std::binary_semaphore turn(0);
  {
    const std::scoped_lock lock(mutex_);
    if (all_wait) release_held();
    if (waiting_.empty() && present_ >= expected()) return;
    block.writes.exchange();
    const bool others_wait = !waiting_.empty();
    waiting_.push_back(&turn);
    if (others_wait) {
      pass_on();
    } else {
      taken_ = false;  // who begins next takes it
    }
  }
  await(turn);
  block.writes.exchange();
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

void BlockTurns::release_held() {
  if (held_ != nullptr) waiting_.push_back(std::exchange(held_, nullptr));
}

/// In every second launch a block that has shown something, but not all that it has written; in the
/// others the first to write for all for the first, second or third time.
bool BlockTurns::is_chosen(const TurnTaker& block) const {
  constexpr unsigned kPlaces = 3, kLaunchesOfEach = 4;  // with both orders of threads
  if (plan_.number % 2 == 0) return block.writes.words() > 0;
  return block.writes_for_all == 1 + plan_.number / kLaunchesOfEach % kPlaces;
}

void BlockTurns::hold_if_due(TurnTaker& block) {
  if (!std::exchange(block.is_held_next, false) || !std::exchange(may_hold_, false)) return;
  std::binary_semaphore turn(0);
  {
    const std::scoped_lock lock(mutex_);
    if (is_last()) return;
    block.writes.exchange();
    held_ = &turn;
    pass_on();
  }
  await(turn);
  block.writes.exchange();
}

void BlockTurns::write(TurnTaker& block, const void* address, std::size_t size_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (!is_shared(begin)) return;
  hold_if_due(block);
  if (block.writes.words() + ended_words_ < kMostWords) block.writes.note(begin, size_bytes);
}

void BlockTurns::write_for_all(TurnTaker& block, const void* address, std::size_t size_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (!is_shared(begin)) return;
  hold_if_due(block);
  block.writes.forget(begin, size_bytes);
  yields_ = 0;
  ++block.writes_for_all;
  block.is_held_next = is_chosen(block);
}

void BlockTurns::show(TurnTaker& block) {
  hold_if_due(block);
  if (block.writes.words() > 0) yields_ = 0;
  block.writes.forget();
}

bool BlockTurns::is_shared(std::uintptr_t address) const {
  const auto behind = std::ranges::upper_bound(
      memory_, address, {},
      [](std::span<std::byte> range) { return reinterpret_cast<std::uintptr_t>(range.data()); });
  if (behind == memory_.begin()) return false;
  const std::span<std::byte> range = *std::prev(behind);
  return address - reinterpret_cast<std::uintptr_t>(range.data()) < range.size();
}

/// Without a fence, a plain flag may be seen before what was written before it.
void BlockTurns::show_where_all_wait(TurnTaker& of_turn) {
  constexpr unsigned kSingly = 8;
  yields_ = 0;
  ++stalls_ <= kSingly ? show_newest(of_turn) : show_all(of_turn);
}

void BlockTurns::show_newest(TurnTaker& of_turn) {
  const auto show = [](PendingWrites& hidden) {
    hidden.exchange();
    hidden.forget_newest();
    hidden.exchange();
  };
  std::ranges::for_each(ended_, show);
  for (TurnTaker* const block : blocks_) {
    block == &of_turn ? of_turn.writes.forget_newest() : show(block->writes);
  }
}

void BlockTurns::show_all(TurnTaker& of_turn) {
  of_turn.writes.forget();
  for (PendingWrites& writes : ended_) writes.exchange();
  ended_.clear();
  ended_words_ = 0;
  for (TurnTaker* const block : blocks_) {
    block->writes.exchange();
    block->writes.forget();
  }
}

}  // namespace tuner::backend
