// SPDX-License-Identifier: Apache-2.0
// Pipelines of k-tiles in shared memory: cp.async and the barriers for it. Before compute
// capability 8.0, which has no cp.async, copies are synchronous.
#pragma once

#include "common/mbarrier.cuh"

#if __CUDA_ARCH__ >= 800
#define HAS_COPY_ASYNC
#endif

/// Hides a value from the compiler, which then cannot unroll a loop with this bound or recompute
/// the value.
template <class T>
__device__ __forceinline__ T hidden(T value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}

/// Copies the first `bytes` bytes of COUNT elements, which are 4, 8 or 16 bytes; the rest is zero.
template <int COUNT, class T>
__device__ __forceinline__ void copy_async(T* to, const T* from, int bytes) {
#ifdef HAS_COPY_ASYNC
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (COUNT * sizeof(T) == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from),
                 "n"(COUNT * sizeof(T)), "r"(bytes));
  }
#else
#pragma unroll
  for (int i = 0; i < COUNT; ++i) to[i] = int(sizeof(T)) * i < bytes ? from[i] : T(0);
#endif
}

/// A pipeline in which all threads copy and compute, with one __syncthreads() per k-tile. While
/// k-tile s is computed, k-tile s + IN_FLIGHT is prefetched.
template <int STAGES>
struct MultistagePipeline {
  static constexpr int IN_FLIGHT = STAGES - 1;

  /// Commits this thread's copies of a k-tile.
  static __device__ __forceinline__ void commit() {
#ifdef HAS_COPY_ASYNC
    asm volatile("cp.async.commit_group;");
#endif
  }
  /// Waits until the next k-tile is in shared memory and all threads have read the previous one.
  static __device__ __forceinline__ void await() {
#ifdef HAS_COPY_ASYNC
    asm volatile("cp.async.wait_group %0;" ::"n"(IN_FLIGHT - 1) : "memory");
#endif
    __syncthreads();
  }
};

/// A pipeline with PRODUCERS producer warps and CONSUMERS consumer warps. Each stage has a full and
/// an empty barrier. Compute capability 9.0.
template <int STAGES, int PRODUCERS, int CONSUMERS>
struct ProducerConsumerPipeline {
  unsigned full;  // address of the first stage's full barrier; all full, then all empty barriers
  unsigned stage = 0;
  unsigned parity = 0;

  /// Initializes the barriers. Called by all threads of the block.
  __device__ __forceinline__ explicit ProducerConsumerPipeline(int thread) {
    __shared__ unsigned long long barriers[2 * STAGES];
    full = hidden(static_cast<unsigned>(__cvta_generic_to_shared(barriers)));
    if (thread < 2 * STAGES) {
      make_barrier(full + 8 * thread, thread < STAGES ? 32 * PRODUCERS : CONSUMERS);
    }
    __syncthreads();
  }
  /// Advances to the next stage.
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
  /// Producer: waits until the stage is empty. The first wait on a new barrier passes.
  __device__ __forceinline__ void await_empty() const {
    await_barrier(full + 8 * (STAGES + stage), parity ^ 1);
  }
  /// Producer: arrives at the full barrier when this thread's copies are complete.
  __device__ __forceinline__ void producer_commit() const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(full + 8 * stage)
                 : "memory");
  }
  /// Consumer: waits until the stage is full.
  __device__ __forceinline__ void await_full() const { await_barrier(full + 8 * stage, parity); }
  /// Consumer warp: marks a stage as read.
  __device__ __forceinline__ void release(unsigned which) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(full + 8 * (STAGES + which));
  }
};

/// __syncthreads() for the first THREADS threads of a block that has OTHERS more.
template <int THREADS, int OTHERS>
__device__ __forceinline__ void sync_threads() {
#ifdef __CUDA_ARCH__
  if constexpr (OTHERS > 0) {
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
    return;
  }
#endif
  __syncthreads();
}

/// Changes the registers per thread of this warpgroup from BEFORE to REGISTERS (setmaxnreg). Called
/// by all its warps.
template <int REGISTERS, int BEFORE>
__device__ __forceinline__ void set_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__)
  if constexpr (REGISTERS < BEFORE) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
  }
#endif
}
