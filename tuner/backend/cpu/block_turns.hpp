// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cpu/pending_writes.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <semaphore>
#include <set>
#include <span>
#include <vector>

namespace tuner::backend {

/// A block that takes turns with others.
struct TurnTaker {
  PendingWrites writes = {};
  unsigned writes_for_all = 0;
  bool is_held_next = false;  ///< before it does anything more that concerns others
};

/// Lets the blocks of an interleaved launch run one at a time and see of the writes of others only
/// what a GPU must show: atomic and volatile ones at once, others behind a fence of the whole
/// device, which a block executes for all that it has written. One block is held after such a write
/// until the others have ended. In the end every write is seen. Where all blocks wait in loops, the
/// held one goes on, and the newest writes are seen first.
class BlockTurns {
 public:
  struct Plan {
    std::uint64_t blocks = 0;
    unsigned workers = 1;  ///< OS threads that run them
    unsigned number = 0;   ///< of the launch: chooses which block is held, and where
  };

  /// `memory` is what all blocks share, in the order of addresses. What is elsewhere is a block's
  /// own.
  BlockTurns(std::span<const std::span<std::byte>> memory, Plan plan)
      : memory_(memory), plan_(plan), may_hold_(plan.workers > 1) {}
  /// Shows what is still pending. No block has a turn.
  ~BlockTurns();
  BlockTurns(const BlockTurns&) = delete;
  BlockTurns& operator=(const BlockTurns&) = delete;

  /// Waits for the first turn of a block. Nobody has one before all OS threads wait here.
  void begin(TurnTaker& block);
  /// Ends the turn of a block and the block. Its writes stay pending.
  void end(TurnTaker& block);
  /// No further block begins, since one has failed.
  void stop();
  /// Lets the others have a turn each.
  void yield(TurnTaker& block);

  /// Before the block whose turn it is writes to an address.
  void write(TurnTaker& block, const void* address, std::size_t size_bytes);
  /// Before it writes there so that all blocks see it.
  void write_for_all(TurnTaker& block, const void* address, std::size_t size_bytes);
  /// A fence.
  void show(TurnTaker& block);

 private:
  [[nodiscard]] bool is_shared(std::uintptr_t address) const;
  [[nodiscard]] bool is_chosen(const TurnTaker& block) const;
  void hold_if_due(TurnTaker& block);
  void show_where_all_wait(TurnTaker& of_turn);
  void show_newest(TurnTaker& of_turn);
  void show_all(TurnTaker& of_turn);
  void await(std::binary_semaphore& turn);
  /// How many blocks the OS threads have begun, or are about to begin. Locked.
  [[nodiscard]] std::uint64_t expected() const;
  /// Whether nobody is left for whom the held block could wait. Locked.
  [[nodiscard]] bool is_last() const { return stopped_ || ended_blocks_ + 1 >= plan_.blocks; }
  /// Gives the turn to who has waited longest, if any does. Locked.
  void pass_on();
  /// The held block waits like others. Locked.
  void release_held();

  std::span<const std::span<std::byte>> memory_;
  Plan plan_;
  std::mutex mutex_;
  bool begun_ = false, taken_ = false, stopped_ = false;
  std::uint64_t present_ = 0, ended_blocks_ = 0;
  std::deque<std::binary_semaphore*> waiting_;
  std::binary_semaphore* held_ = nullptr;
  // Of the block whose turn it is:
  bool may_hold_;
  std::set<TurnTaker*> blocks_;  // those that have begun and not ended
  std::vector<PendingWrites> ended_;
  std::size_t ended_words_ = 0;
  unsigned yields_ = 0;  // since something was written for all
  unsigned stalls_ = 0;  // all waited
};

}  // namespace tuner::backend
