// SPDX-License-Identifier: Apache-2.0
// What the backend and a kernel compiled for the host share. Compiled into both, so it includes
// nothing and is C++11.
#pragma once

namespace tuner {

struct Index3 {
  unsigned x, y, z;
};

/// Where a barrier stands in the source.
struct BarrierSite {
  const char* file;
  int line;
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
