// SPDX-License-Identifier: Apache-2.0
// What the backend and a kernel compiled for the host share. Compiled into both, so it includes
// nothing and is C++11.
#pragma once

namespace tuner {

struct Index3 {
  unsigned x, y, z;
};

/// The place of a barrier in the source.
struct BarrierSite {
  const char* file;
  int line;
};

/// A tensor as a kernel on the host gets it in place of a tensor map, which has as many bytes. The
/// innermost of extents, strides and box comes first; a tensor of lower rank has extents and boxes
/// of 1.
struct HostTensorMap {
  static constexpr unsigned kRank = 3;
  unsigned char* begin;
  long long extents[kRank];            ///< elements
  long long strides_bytes[kRank - 1];  ///< along each extent but the innermost
  unsigned box[kRank];                 ///< elements
  unsigned element_bytes;
  unsigned swizzle_bytes;  ///< 0: none
};

/// A barrier that a kernel numbers itself (bar.sync).
struct NamedBarrier {
  unsigned arrived;     ///< threads
  unsigned generation;  ///< of those that met before
};

/// What a thread of an interleaved kernel read last (interleaving_on_cpu.hpp).
struct RecentReads {
  static constexpr unsigned kSlots = 4;
  const void* addresses[kSlots];
  unsigned count;    ///< of reads
  unsigned updates;  ///< writes of what was read
};

/// The tensor memory of a block (tcgen05): words of 32 bits in 128 lanes of 512 columns.
struct TensorMemory {
  static constexpr unsigned kWords = 128 * 512;
  unsigned* words;          ///< of the first lane, then of the next; fixed for an OS thread
  unsigned first, columns;  ///< allocated columns: none when a block begins, and when it ends
  /// What the block has begun and goes on by itself: completes the oldest of it, false where
  /// nothing is left. Called when all threads wait: as late as on a GPU. Null: nothing has begun.
  bool (*complete_oldest)(void* operations);
  void* operations;
};

/// What an interleaved kernel is about to do that other blocks notice, or not yet
/// (block_turns.hpp).
enum class BlockEvent {
  write,          ///< they need not see it before a fence
  write_for_all,  ///< atomic or volatile
  fence,          ///< of the whole device
  wait,           ///< in a loop: they run meanwhile
};

/// The place of the kernel thread that runs, and what it may ask of the block it belongs to. One
/// for each operating-system thread; the backend keeps it current across switches.
struct KernelContext {
  Index3 thread, block, block_shape, grid_shape;
  void* dynamic_shared;          ///< the block's dynamic shared memory; fixed for an OS thread
  unsigned long long* exchange;  ///< one slot for each thread of the block, for warp shuffles
  unsigned votes;                ///< of the block's threads that wait at __syncthreads_count
  void (*sync_block)(KernelContext&, BarrierSite);
  void (*sync_warp)(KernelContext&, unsigned lanes);
  /// Lets other threads of the block run until `is_ready(state)`.
  void (*await)(KernelContext&, bool (*is_ready)(const void* state), const void* state);
  NamedBarrier named[16];  ///< all zero when a block begins
  unsigned polls;          ///< tuner::poll() counts here
  RecentReads* reads;      ///< of each thread of the block
  unsigned pauses;         ///< of the block at updates, for other blocks
  unsigned accesses;       ///< to memory, of an interleaved kernel
  /// Null unless blocks take turns.
  void (*notify)(KernelContext&, BlockEvent, const void* address, unsigned long size_bytes);
  TensorMemory tensor_memory;

  unsigned thread_rank() const {
    return thread.x + block_shape.x * (thread.y + block_shape.y * thread.z);
  }
};

/// Runs one thread of a kernel to its end.
using KernelEntry = void (*)(KernelContext& context, void* const* arguments);

/// What a compiled image exports for each of its kernels.
struct KernelImage {
  KernelEntry entry;
  const unsigned* argument_sizes;  ///< bytes
  unsigned argument_count;
  /// Where the calling thread's `tuner::context` lies, as a landmark of the image's thread-local
  /// variables. Null in a kernel for processors, whose thread-local variables are its own.
  KernelContext** (*context_place)();
};

}  // namespace tuner
