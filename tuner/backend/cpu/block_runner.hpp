// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cpu/block_turns.hpp"
#include "tuner/backend/cpu/kernel_abi.hpp"
#include "tuner/backend/cpu/shared_variables.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/family/candidate.hpp"

#include <boost/context/fiber.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::backend {

inline constexpr unsigned kMaxThreadsPerBlock = 1024;
inline constexpr unsigned kMaxDynamicSharedBytes = 232448;  // of an H100 or H200, with static
inline constexpr unsigned kMaxStaticSharedBytes = 49152;    // of every GPU

/// In which order the threads of a block begin. A right kernel cannot tell.
enum class ThreadOrder { ascending, descending };

/// In which order the blocks of a grid begin. Ascending is what a GPU does at most times, and what
/// keeps neighbours in the caches; a right kernel cannot tell.
enum class BlockOrder { ascending, shuffled };

/// A kernel with its arguments.
struct KernelCall {
  KernelEntry entry = nullptr;
  void* const* arguments = nullptr;
  family::Geometry geometry;
  ThreadOrder order = ThreadOrder::ascending;
  /// A warp whose lanes have met goes on before all others, up to the block's next barrier; else
  /// behind them. Shows where a barrier of the block is missing; a right kernel cannot tell.
  bool warps_go_ahead = false;
  /// Where warps do not go ahead: all threads begin before one goes on from a barrier of its warp.
  /// Shows what warps overwrite of one another in a kernel that has no barrier of the block; a
  /// right kernel cannot tell. It takes a stack for each thread.
  bool all_begin_first = false;
  BlockOrder blocks = BlockOrder::ascending;
  /// Blocks of a launch that is not interleaved run one after the other.
  bool on_one_core = false;
  /// Some blocks pause at their first barrier, so that others that began later overtake them. Shows
  /// where a block reads what an earlier one has not written yet; a right kernel cannot tell.
  bool blocks_pause = false;
  /// Of an interleaved image: its launches before this one.
  std::optional<unsigned> interleaved = {};
  /// What all blocks of an interleaved launch share, in the order of addresses.
  std::span<const std::span<std::byte>> shared_by_blocks = {};
  BlockTurns* turns = nullptr;       ///< those that blocks take, if they do
  std::uint64_t launch = 0;          ///< makes a shuffled order another one
  std::uint32_t shared_content = 0;  ///< the words of shared memory before a block
  StaticShared static_shared = {};   ///< what of shared memory lies in the kernel's image
};

/// How a block ended.
enum class BlockEnd {
  complete,
  deadlock,    ///< threads waited at barriers that the others of the block can no longer reach
  divergence,  ///< a thread reached a barrier of the block while others waited at another one
  overrun,     ///< it wrote beyond its dynamic shared memory
  leak,        ///< it had tensor memory, or freed it while products ran
};

/// Runs the blocks of a grid one after the other on one OS thread, always the same one; blocks of
/// one thread on any.
///
/// A kernel thread runs on a fiber until it waits at a barrier; only then another fiber begins the
/// next thread. A kernel without barriers so needs one fiber and no switch at all, and one with
/// warp barriers only as many fibers as a warp has lanes. The only thread of a block runs on the
/// stack of the caller. Fibers and their stacks live as long as
/// the runner. As on a GPU, a barrier waits for the threads that have not ended. A thread that
/// awaits something else looks again whenever its turn comes.
class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// `pauses`: at its first barrier.
  [[nodiscard]] BlockEnd run(const KernelCall& call, Index3 block, bool pauses = false);
  /// The two barriers of the last run that ended in divergence, for a message: "k.cu:12 and …".
  [[nodiscard]] const std::string& divergence() const { return divergence_; }

 private:
  using Fiber = boost::context::fiber;
  using FiberIndex = std::uint16_t;  // 0 is the OS thread's own stack
  class StackMemory;

  /// The runnable fibers in order; none is in it twice.
  class Queue {
   public:
    [[nodiscard]] bool empty() const { return head_ == tail_; }
    void push(FiberIndex fiber) { slots_[tail_++ % slots_.size()] = fiber; }
    void push_first(FiberIndex fiber) { slots_[--head_ % slots_.size()] = fiber; }
    FiberIndex pop() { return slots_[head_++ % slots_.size()]; }

   private:
    std::array<FiberIndex, kMaxThreadsPerBlock> slots_{};
    static_assert(std::has_single_bit(kMaxThreadsPerBlock), "numbers of slots may overflow");
    unsigned head_ = 0, tail_ = 0;
  };

  /// The lanes of a warp as sets of bits, and who waits at a barrier of which lanes.
  struct Warp {
    unsigned live = 0;
    unsigned waiting = 0;
    std::array<unsigned, 32> lanes{};
    std::array<FiberIndex, 32> fiber{};
  };

  /// What a kernel gets, and the way back from it.
  struct Place : KernelContext {
    BlockRunner* runner = nullptr;
  };

  static void sync_block(KernelContext& context, BarrierSite site);
  static void sync_warp(KernelContext& context, unsigned lanes);
  static void await(KernelContext& context, bool (*is_ready)(const void*), const void* state);
  static void notify(KernelContext& context, BlockEvent event, const void* address,
                     unsigned long size_bytes);

  [[nodiscard]] BlockEnd run_in_turn(const KernelCall& call, Index3 block);
  void let_others_overtake();
  void give_up(BarrierSite site);
  void begin_block(const KernelCall& call, Index3 block);
  [[nodiscard]] bool has_overrun() const;
  [[nodiscard]] BlockEnd end_of_complete() const;
  [[nodiscard]] Index3 next_thread() const;
  void run_alone();
  void run_threads();
  [[nodiscard]] bool all_begin_first() const;
  void end_thread();
  void wait();
  void pause();
  void release_block_if_complete();
  void release_warp_if_complete(Warp& warp, unsigned lanes);

  [[nodiscard]] FiberIndex next_fiber();
  [[nodiscard]] FiberIndex idle_fiber();
  void switch_to(FiberIndex fiber);
  [[nodiscard]] Fiber make_fiber(FiberIndex index);
  void abandon_waiting_fibers();

  Place context_;
  std::unique_ptr<std::byte[]> dynamic_shared_;
  std::unique_ptr<unsigned[]> tensor_words_;
  std::vector<unsigned long long> exchange_;
  std::vector<RecentReads> reads_;
  TurnTaker turn_;  // of the block, where blocks take turns
  std::unique_ptr<StackMemory> stacks_;

  std::vector<Fiber> fibers_;     // suspended ones; the running one's slot is empty
  std::vector<FiberIndex> idle_;  // not in a kernel; the last one's stack is the warmest
  FiberIndex current_ = 0;
  FiberIndex previous_ = 0;  // who switched to the current one
  bool stopping_ = false;
  bool pauses_ = false;

  const KernelCall* call_ = nullptr;
  unsigned unstarted_ = 0;  // threads of the block
  unsigned live_ = 0;       // threads of the block that have not ended
  Queue runnable_;
  bool begins_next_ = false;  // the next fiber begins a thread though others are runnable
  unsigned meetings_ = 0;     // of lanes, since a thread began or the block met
  unsigned vain_looks_ = 0;   // of threads at what they await, since one has gone on
  std::vector<FiberIndex> at_barrier_;
  BarrierSite site_{};      // where those wait
  std::string divergence_;  // empty: none
  std::array<Warp, kMaxThreadsPerBlock / 32> warps_{};
};

/// The limits of a launch on a GPU, kept here too so that a configuration fails in both places:
/// launch_error when the geometry is beyond them, with what the kernel's `__shared__` variables
/// take.
[[nodiscard]] Expected<void, Failure> check_geometry(const family::Geometry& geometry,
                                                     std::size_t static_shared_bytes);

}  // namespace tuner::backend
