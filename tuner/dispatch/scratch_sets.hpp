// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/captured_memory.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/core/number_map.hpp"
#include "tuner/dispatch/epoch_reclaimer.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tuner::dispatch {

class ScratchPool;

/// The scratch buffers of a plan: a set for each stream and for each capture of one, because
/// launches that run at once must not share. All zero when the plan gets them, then as its launches
/// leave them; on a stream another plan may take them, and then the plan gets others.
class ScratchSets {
 public:
  /// `buffer_bytes` of each buffer. The pool must outlive this.
  ScratchSets(ScratchPool& pool, const std::vector<std::size_t>& buffer_bytes);
  /// No launch by the plan may be being enqueued.
  ~ScratchSets();
  ScratchSets(const ScratchSets&) = delete;
  ScratchSets& operator=(const ScratchSets&) = delete;

  /// Writes the addresses of the buffers, in the kernel's order, to the first of `addresses`; false
  /// when it has none there now: provide() gets some. To be called in a read section that lasts
  /// until the launch is enqueued. Without a lock and an allocation unless the stream is captured.
  [[nodiscard]] bool find(const backend::StreamState& state, std::uint64_t* addresses) const;
  /// Gets some on a stream, or for what is being captured there. Not in a read section. Fails where
  /// there is no memory.
  [[nodiscard]] Expected<void, Failure> provide(const backend::StreamState& state,
                                                backend::StreamHandle stream);

 private:
  friend class ScratchPool;
  void write(const void* begin, std::uint64_t* addresses) const;

  ScratchPool& pool_;
  std::vector<std::size_t> offsets_;  // of each buffer in a block
  std::size_t size_bytes_ = 0;        // of a block
  NumberMap<void> by_stream_;         // where blocks begin
  mutable std::mutex mutex_;          // of what follows
  backend::CapturedMemory captured_;
};

/// Memory for scratch buffers: each stream has blocks that plans share; a plan without a block
/// takes that of the plan that has had one the longest. A stream keeps `kept_bytes`, enough that
/// the plans in use mostly keep theirs, and beyond that what the largest plan needs: at most four
/// times its need. A block that changes its plan is zeroed in stream order.
class ScratchPool {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{32} << 20;

  /// Both must outlive it; launches are enqueued in `reclaimer`.
  ScratchPool(backend::Executor& executor, EpochReclaimer& reclaimer,
              std::size_t kept_bytes = kKeptBytes)
      : executor_(executor), reclaimer_(reclaimer), kept_bytes_(kept_bytes) {}

 private:
  friend class ScratchSets;
  struct Block {
    std::shared_ptr<void> memory;
    std::size_t size_bytes = 0;
    ScratchSets* owner = nullptr;  ///< null: the previous owner no longer exists
    std::uint64_t taken = 0;       ///< when, by takes_
  };
  using Blocks = std::deque<Block>;

  [[nodiscard]] Expected<void, Failure> provide(ScratchSets& sets, std::uint64_t stream_id,
                                                backend::StreamHandle stream);
  /// A block to reassign: one without an owner, else the one that was taken first. Null when none
  /// is large enough.
  [[nodiscard]] static Block* spare_block(Blocks& blocks, std::size_t size_bytes);
  /// A new one; null where there is no memory.
  [[nodiscard]] Block* grow(Blocks& blocks, std::size_t size_bytes);
  /// From its owner, and sets as many bytes to zero.
  [[nodiscard]] Expected<void, Failure> take_away(Block& block, std::uint64_t stream_id,
                                                  std::size_t size_bytes,
                                                  backend::StreamHandle stream);
  void disown(const ScratchSets& sets);

  backend::Executor& executor_;
  EpochReclaimer& reclaimer_;
  std::size_t kept_bytes_;
  std::mutex mutex_;  // of what follows
  std::uint64_t takes_ = 0;
  std::map<std::uint64_t, Blocks> by_stream_;
};

}  // namespace tuner::dispatch
