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

/// Lets the blocks of an interleaved launch run one at a time and see of the writes of others only
/// what a GPU must show: atomic and volatile ones at once, others behind a fence of the whole
/// device, which a block executes for all that it has written. In the end every write is seen; so
/// it is where all blocks wait in loops.
class BlockTurns {
 public:
  /// `memory` is what all blocks share, in the order of addresses. What is elsewhere is a block's
  /// own.
  explicit BlockTurns(std::span<const std::span<std::byte>> memory) : memory_(memory) {}
  /// Shows what is still pending. No block has a turn.
  ~BlockTurns();
  BlockTurns(const BlockTurns&) = delete;
  BlockTurns& operator=(const BlockTurns&) = delete;

  /// Waits for the first turn of a block, whose writes are noted in `writes` until its end.
  void begin(PendingWrites& writes);
  /// Ends the turn of a block and the block. Its writes stay pending.
  void end(PendingWrites& writes);
  /// Lets the others have a turn each.
  void yield(PendingWrites& writes);

  /// Before the block whose turn it is writes to an address.
  void write(PendingWrites& writes, const void* address, std::size_t size_bytes);
  /// Before it writes there so that all blocks see it.
  void write_for_all(PendingWrites& writes, const void* address, std::size_t size_bytes);
  /// A fence.
  void show(PendingWrites& writes);

 private:
  [[nodiscard]] bool is_shared(std::uintptr_t address) const;
  void show_all(PendingWrites& of_turn);
  void await(std::binary_semaphore& turn);
  /// Gives the turn to who has waited longest, if any does. Locked.
  void pass_on();

  std::span<const std::span<std::byte>> memory_;
  std::mutex mutex_;
  bool taken_ = false;
  std::deque<std::binary_semaphore*> waiting_;
  // Of the block whose turn it is:
  std::set<PendingWrites*> blocks_;   // those that have begun and not ended
  std::vector<PendingWrites> ended_;  // of ended blocks
  std::size_t ended_words_ = 0;
  unsigned yields_ = 0;  // since something was written for all
};

}  // namespace tuner::backend
