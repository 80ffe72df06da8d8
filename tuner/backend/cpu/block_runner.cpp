// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/block_runner.hpp"

#include "tuner/backend/launch_error.hpp"
#include "tuner/core/error.hpp"

#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <utility>

namespace tuner::backend {
namespace {

constexpr std::size_t kPage = 4096;
/// After so many meetings of lanes the other warps run, too: the lanes may wait for them in a loop.
constexpr unsigned kMostMeetings = 256;
/// Long enough for another core to run a block.
constexpr std::chrono::microseconds kPause{50};
// An odd number of pages, and tops spread over a page: otherwise the hot ends of all stacks would
// fall into the same few sets of the caches.
constexpr std::size_t kStackBytes = 17 * kPage;
constexpr std::size_t kTopStep = std::size_t{5} * 64;

constexpr std::size_t kSharedAlignment = 1024;  // what the strictest CUDA instruction asks for

// Behind the dynamic shared memory of a block, to find writes beyond it.
constexpr std::size_t kGuardBytes = 256;

constexpr std::size_t kDynamicSharedBytes = kMaxDynamicSharedBytes + kGuardBytes;

std::unique_ptr<std::byte[]> make_dynamic_shared() {
  return std::make_unique_for_overwrite<std::byte[]>(kDynamicSharedBytes + kSharedAlignment);
}

void* aligned(std::byte* memory) {
  std::size_t space = kDynamicSharedBytes + kSharedAlignment;
  void* start = memory;
  return std::align(kSharedAlignment, kDynamicSharedBytes, start, space);
}

/// The dynamic shared memory of a block in words, the last of which it may have in part.
std::size_t dynamic_words(const KernelCall& call) {
  constexpr std::size_t kWord = sizeof call.shared_content;
  return (call.geometry.dynamic_shared_bytes + kWord - 1) / kWord;
}

/// Boost asks for one; the stacks belong to the runner.
struct BorrowedStack {
  void deallocate(boost::context::stack_context&) const noexcept {}
};

bool is_same(BarrierSite a, BarrierSite b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

/// Stacks for all fibers in one mapping; pages are taken from the system when first touched.
class BlockRunner::StackMemory {
 public:
  StackMemory()
      : memory_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
    if (memory_ == MAP_FAILED) {
      throw Error(ErrorCode::failure,
                  std::string("cpu backend: no address space for the stacks of a block: ") +
                      std::strerror(errno));
    }
  }
  ~StackMemory() { ::munmap(memory_, kBytes); }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  [[nodiscard]] boost::context::stack_context stack(FiberIndex index) const {
    boost::context::stack_context stack;
    stack.size = kStackBytes - index * kTopStep % kPage;
    stack.sp = static_cast<std::byte*>(memory_) + (index - 1u) * kStackBytes + stack.size;
    return stack;
  }

 private:
  static constexpr std::size_t kBytes = kMaxThreadsPerBlock * kStackBytes;
  void* memory_ = nullptr;
};

BlockRunner::BlockRunner()
    : dynamic_shared_(make_dynamic_shared()),
      tensor_words_(std::make_unique_for_overwrite<unsigned[]>(TensorMemory::kWords)),
      exchange_(kMaxThreadsPerBlock),
      reads_(kMaxThreadsPerBlock),
      stacks_(std::make_unique<StackMemory>()),
      fibers_(kMaxThreadsPerBlock + 1),
      idle_(kMaxThreadsPerBlock) {
  std::iota(idle_.rbegin(), idle_.rend(), FiberIndex{1});
  at_barrier_.reserve(kMaxThreadsPerBlock);
  context_.dynamic_shared = aligned(dynamic_shared_.get());
  context_.exchange = exchange_.data();
  context_.reads = reads_.data();
  context_.runner = this;
  context_.sync_block = &BlockRunner::sync_block;
  context_.sync_warp = &BlockRunner::sync_warp;
  context_.await = &BlockRunner::await;
}

BlockRunner::~BlockRunner() {
  stopping_ = true;
  for (const FiberIndex fiber : idle_) {
    if (fibers_[fiber]) switch_to(fiber);
  }
}

BlockEnd BlockRunner::run(const KernelCall& call, Index3 block, bool pauses) {
  pauses_ = pauses;
  if (call.turns == nullptr) return run_in_turn(call, block);
  call.turns->begin(turn_);
  const BlockEnd end = run_in_turn(call, block);
  call.turns->end(turn_);
  return end;
}

BlockEnd BlockRunner::run_in_turn(const KernelCall& call, Index3 block) {
  begin_block(call, block);
  if (live_ == 1) {
    run_alone();
    return end_of_complete();
  }
  switch_to(idle_fiber());
  if (live_ == 0) return end_of_complete();
  abandon_waiting_fibers();
  return divergence_.empty() ? BlockEnd::deadlock : BlockEnd::divergence;
}

bool BlockRunner::has_overrun() const {
  const auto* const guard =
      static_cast<const std::uint32_t*>(context_.dynamic_shared) + dynamic_words(*call_);
  // Each word is compared with the next one: memcmp() costs a block little.
  return *guard != call_->shared_content ||
         std::memcmp(guard, guard + 1, kGuardBytes - sizeof *guard) != 0;
}

/// How a block ended of which all threads have.
BlockEnd BlockRunner::end_of_complete() const {
  return has_overrun()                         ? BlockEnd::overrun
         : context_.tensor_memory.columns != 0 ? BlockEnd::leak
                                               : BlockEnd::complete;
}

void BlockRunner::begin_block(const KernelCall& call, Index3 block) {
  const auto& grid = call.geometry.grid;
  const auto& shape = call.geometry.block;
  // Shared memory begins with what other blocks left: here with what shows that a kernel relies on
  // it, or reads beyond it.
  std::fill_n(static_cast<std::uint32_t*>(context_.dynamic_shared),
              dynamic_words(call) + kGuardBytes / sizeof call.shared_content, call.shared_content);
  fill(call.static_shared, call.shared_content, context_.dynamic_shared);
  call_ = &call;
  context_.grid_shape = {grid[0], grid[1], grid[2]};
  context_.block_shape = {shape[0], shape[1], shape[2]};
  context_.block = block;
  context_.votes = 0;
  if (call.interleaved) std::ranges::fill(reads_, RecentReads{});
  context_.pauses = context_.accesses = 0;
  if (call.turns != nullptr) context_.polls = 0;
  context_.notify = call.turns != nullptr ? &BlockRunner::notify : nullptr;
  std::ranges::fill(context_.named, NamedBarrier{});
  context_.tensor_memory = TensorMemory{};
  context_.tensor_memory.words = tensor_words_.get();
  vain_looks_ = meetings_ = 0;
  begins_next_ = false;
  divergence_.clear();
  live_ = unstarted_ = shape[0] * shape[1] * shape[2];
  for (unsigned first = 0; first < live_; first += 32) {
    Warp& warp = warps_[first / 32];
    warp.live = live_ - first >= 32 ? ~0u : (1u << (live_ - first)) - 1;
    warp.waiting = 0;
  }
}

/// The one thread of a block never waits for others: it needs no fiber and no stack of its own.
void BlockRunner::run_alone() {
  unstarted_ = 0;
  context_.thread = {};
  call_->entry(context_, call_->arguments);
  live_ = 0;
}

/// The life of a fiber.
void BlockRunner::run_threads() {
  while (!stopping_) {
    while (unstarted_ > 0 && (runnable_.empty() || begins_next_ || all_begin_first())) {
      begins_next_ = false;
      vain_looks_ = meetings_ = 0;
      --unstarted_;
      context_.thread = next_thread();
      call_->entry(context_, call_->arguments);
      end_thread();
    }
    const FiberIndex next = next_fiber();
    idle_.push_back(current_);
    switch_to(next);
  }
}

/// The thread that begins when `unstarted_` are left behind it.
Index3 BlockRunner::next_thread() const {
  const auto [x, y, z] = context_.block_shape;
  const unsigned rank =
      call_->order == ThreadOrder::ascending ? x * y * z - 1 - unstarted_ : unstarted_;
  return {rank % x, rank / x % y, rank / (x * y)};
}

bool BlockRunner::all_begin_first() const {
  return call_->all_begin_first && !call_->warps_go_ahead;
}

void BlockRunner::end_thread() {
  --live_;
  vain_looks_ = 0;
  const unsigned rank = context_.thread_rank();
  Warp& warp = warps_[rank / 32];
  warp.live &= ~(1u << rank % 32);
  release_block_if_complete();
  for (unsigned rest = warp.waiting; rest != 0; rest &= warp.waiting) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    release_warp_if_complete(warp, warp.lanes[lane]);
    rest &= ~(1u << lane);
  }
}

void BlockRunner::sync_block(KernelContext& context, BarrierSite site) {
  BlockRunner& runner = *static_cast<Place&>(context).runner;
  if (runner.at_barrier_.empty()) {
    runner.site_ = site;
  } else if (!is_same(site, runner.site_)) {
    runner.give_up(site);
  }
  runner.at_barrier_.push_back(runner.current_);
  runner.release_block_if_complete();
  runner.wait();
}

/// Leaves the block with its threads wherever they are; does not come back.
void BlockRunner::give_up(BarrierSite site) {
  divergence_ = fmt::format("{}:{} and {}:{}", site_.file, site_.line, site.file, site.line);
  switch_to(FiberIndex{0});
}

void BlockRunner::sync_warp(KernelContext& context, unsigned lanes) {
  BlockRunner& runner = *static_cast<Place&>(context).runner;
  const unsigned rank = context.thread_rank();
  Warp& warp = runner.warps_[rank / 32];
  warp.waiting |= 1u << rank % 32;
  warp.lanes[rank % 32] = lanes;
  warp.fiber[rank % 32] = runner.current_;
  runner.release_warp_if_complete(warp, lanes);
  runner.wait();
}

/// When every thread has looked twice in vain and none has gone on, none ever will unless what the
/// block has begun completes: all have run as far as they can between the two looks.
void BlockRunner::await(KernelContext& context, bool (*is_ready)(const void*), const void* state) {
  BlockRunner& runner = *static_cast<Place&>(context).runner;
  while (!is_ready(state)) {
    if (++runner.vain_looks_ > 2 * runner.live_) {
      const TensorMemory& memory = context.tensor_memory;
      if (memory.complete_oldest == nullptr || !memory.complete_oldest(memory.operations)) {
        runner.switch_to(FiberIndex{0});
      }
      runner.vain_looks_ = 0;
    }
    runner.pause();
  }
  runner.vain_looks_ = 0;
}

void BlockRunner::notify(KernelContext& context, BlockEvent event, const void* address,
                         unsigned long size_bytes) {
  BlockRunner& runner = *static_cast<Place&>(context).runner;
  BlockTurns& turns = *runner.call_->turns;
  switch (event) {
    case BlockEvent::write:
      return turns.write(runner.turn_, address, size_bytes);
    case BlockEvent::write_for_all:
      return turns.write_for_all(runner.turn_, address, size_bytes);
    case BlockEvent::fence:
      return turns.show(runner.turn_);
    case BlockEvent::wait:
      return turns.yield(runner.turn_);
  }
}

void BlockRunner::let_others_overtake() {
  if (call_->turns != nullptr) return call_->turns->yield(turn_);
  std::this_thread::sleep_for(kPause);
}

void BlockRunner::release_block_if_complete() {
  if (at_barrier_.size() != live_) return;
  vain_looks_ = meetings_ = 0;
  if (std::exchange(pauses_, false)) let_others_overtake();
  for (const FiberIndex fiber : at_barrier_) runnable_.push(fiber);
  at_barrier_.clear();
}

/// Lanes wait together when they name the same set of lanes; of those the ended are not waited for.
void BlockRunner::release_warp_if_complete(Warp& warp, unsigned lanes) {
  const unsigned awaited = lanes & warp.live;
  if ((awaited & ~warp.waiting) != 0) return;
  unsigned together = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((warp.waiting >> lane & 1u) != 0 && warp.lanes[lane] == lanes) together |= 1u << lane;
  }
  if ((awaited & ~together) != 0) return;
  vain_looks_ = 0;
  ++meetings_;
  const bool goes_ahead = call_->warps_go_ahead && meetings_ < kMostMeetings;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((together >> lane & 1u) == 0) continue;
    goes_ahead ? runnable_.push_first(warp.fiber[lane]) : runnable_.push(warp.fiber[lane]);
  }
  warp.waiting &= ~together;
}

// After a switch the processor mispredicts every return up to the kernel; so these three are one
// with the barrier functions (25 % less a switch).

/// Suspends the running kernel thread, which stands on a waiting list or is already runnable again.
[[gnu::always_inline]] inline void BlockRunner::wait() {
  const Index3 thread = context_.thread;
  switch_to(next_fiber());
  context_.thread = thread;
}

/// Lets others run before the running kernel thread goes on: one that has not begun, if any is
/// left.
[[gnu::always_inline]] inline void BlockRunner::pause() {
  const Index3 thread = context_.thread;
  runnable_.push(current_);
  begins_next_ = unstarted_ > 0;
  switch_to(begins_next_ ? idle_fiber() : runnable_.pop());
  context_.thread = thread;
}

/// Who goes on when the current fiber cannot: a runnable one, a new one as long as threads have not
/// begun, else the OS thread, because the block is complete or can never be.
[[gnu::always_inline]] inline BlockRunner::FiberIndex BlockRunner::next_fiber() {
  if (unstarted_ > 0 && (runnable_.empty() || meetings_ >= kMostMeetings || all_begin_first())) {
    begins_next_ = true;
    return idle_fiber();
  }
  return runnable_.empty() ? FiberIndex{0} : runnable_.pop();
}

BlockRunner::FiberIndex BlockRunner::idle_fiber() {
  const FiberIndex fiber = idle_.back();
  idle_.pop_back();
  if (!fibers_[fiber]) fibers_[fiber] = make_fiber(fiber);
  return fiber;
}

[[gnu::always_inline]] inline void BlockRunner::switch_to(FiberIndex fiber) {
  if (fiber == current_) return;
  previous_ = current_;
  current_ = fiber;
  Fiber from = std::move(fibers_[fiber]).resume();
  fibers_[previous_] = std::move(from);
}

BlockRunner::Fiber BlockRunner::make_fiber(FiberIndex index) {
  const boost::context::stack_context stack = stacks_->stack(index);
  return Fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
               BorrowedStack{}, [this](Fiber&& from) {
                 fibers_[previous_] = std::move(from);
                 run_threads();
                 previous_ = current_;
                 current_ = 0;
                 return std::move(fibers_[0]);
               });
}

/// Unwinds the kernel threads that wait for ever; their stacks serve new fibers.
void BlockRunner::abandon_waiting_fibers() {
  std::vector<bool> keep(fibers_.size());
  for (const FiberIndex fiber : idle_) keep[fiber] = true;
  // NOLINTNEXTLINE(bugprone-too-small-loop-variable): a fiber's number fits, by its type
  for (FiberIndex fiber = 1; fiber < fibers_.size(); ++fiber) {
    if (keep[fiber]) continue;
    fibers_[fiber] = Fiber();
    idle_.push_back(fiber);
  }
  at_barrier_.clear();
  while (!runnable_.empty()) runnable_.pop();
  unstarted_ = 0;
}

Expected<void, Failure> check_geometry(const family::Geometry& geometry,
                                       std::size_t static_shared_bytes) {
  const auto& grid = geometry.grid;
  const auto& block = geometry.block;
  constexpr std::array<std::uint32_t, 3> kMaxGrid = {0x7fffffff, 65535, 65535};
  constexpr std::array<std::uint32_t, 3> kMaxBlock = {1024, 1024, 64};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || grid[axis] > kMaxGrid[axis]) {
      return launch_error(fmt::format("grid {}x{}x{} is outside of 1 to {}x{}x{}", grid[0], grid[1],
                                      grid[2], kMaxGrid[0], kMaxGrid[1], kMaxGrid[2]));
    }
    if (block[axis] == 0 || block[axis] > kMaxBlock[axis]) {
      return launch_error(fmt::format("block {}x{}x{} is outside of 1 to {}x{}x{}", block[0],
                                      block[1], block[2], kMaxBlock[0], kMaxBlock[1],
                                      kMaxBlock[2]));
    }
  }
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > kMaxThreadsPerBlock) {
    return launch_error(fmt::format("block {}x{}x{} has {} threads, more than {}", block[0],
                                    block[1], block[2], threads, kMaxThreadsPerBlock));
  }
  if (geometry.dynamic_shared_bytes > kMaxDynamicSharedBytes) {
    return launch_error(fmt::format("{} bytes of dynamic shared memory, more than {}",
                                    geometry.dynamic_shared_bytes, kMaxDynamicSharedBytes));
  }
  if (geometry.dynamic_shared_bytes + static_shared_bytes > kMaxDynamicSharedBytes) {
    return launch_error(fmt::format(
        "{} bytes of dynamic and {} bytes of static shared memory, together more than {}",
        geometry.dynamic_shared_bytes, static_shared_bytes, kMaxDynamicSharedBytes));
  }
  return {};
}

}  // namespace tuner::backend
