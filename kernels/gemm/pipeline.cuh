// SPDX-License-Identifier: Apache-2.0
// How slabs of the operands get into shared memory while others are computed with: cp.async, and
// the waiting for it. Where there is none, before compute capability 8.0, they are copied at once.
#pragma once

#if __CUDA_ARCH__ >= 800
#define HAS_COPY_ASYNC
#endif

/// The same value, of which the compiler knows nothing: it neither unrolls a loop that ends there
/// nor computes it anew.
template <class T>
__device__ __forceinline__ T hidden(T value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}

/// Copies the first `bytes` of COUNT floats and zeroes the rest.
template <int COUNT>
__device__ __forceinline__ void copy_async(float* to, const float* from, int bytes) {
#ifdef HAS_COPY_ASYNC
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (COUNT == 4) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from),
                 "n"(COUNT * 4), "r"(bytes));
  }
#else
#pragma unroll
  for (int i = 0; i < COUNT; ++i) to[i] = 4 * i < bytes ? from[i] : 0.0f;
#endif
}

/// The stages of shared memory that slabs pass through when every thread fetches and computes: all
/// meet once a slab. At step s the slab s + AHEAD is fetched.
template <int STAGES>
struct SharedStages {
  static constexpr int AHEAD = STAGES - 1;

  /// What this thread was to fetch of a slab is under way.
  static __device__ __forceinline__ void fetched() {
#ifdef HAS_COPY_ASYNC
    asm volatile("cp.async.commit_group;");
#endif
  }
  /// Returns when the next slab is there and the one before it is not read any more.
  static __device__ __forceinline__ void await() {
#ifdef HAS_COPY_ASYNC
    asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
#endif
    __syncthreads();
  }
};

/// A barrier in shared memory, known by its address (mbarrier): it is passed once `count` arrivals
/// have come by and the bytes that were announced have come in. Compute capability 9.0.
template <class Address>
__device__ __forceinline__ void make_barrier(Address barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
template <class Address>
__device__ __forceinline__ void arrive(Address barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives, and announces bytes.
template <class Address>
__device__ __forceinline__ void arrive_expecting(Address barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the barrier is passed for the time whose number has this parity.
template <class Address>
__device__ __forceinline__ void await_barrier(Address barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred arrived;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 arrived, [%0], %1;\n"
      "@!arrived bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Compute capability 9.0: the stages when PRODUCERS warps fetch for CONSUMERS warps that
/// compute. Each stage has a barrier that says it is full and one that says it is empty, so that no
/// warp waits for more than it needs.
template <int STAGES, int PRODUCERS, int CONSUMERS>
struct HandedStages {
  unsigned full;  // address of the barrier of the first stage; the others follow
  unsigned stage = 0;
  unsigned parity = 0;

  /// For all threads of the block.
  __device__ __forceinline__ explicit HandedStages(int thread) {
    __shared__ unsigned long long barriers[2 * STAGES];
    full = hidden(static_cast<unsigned>(__cvta_generic_to_shared(barriers)));
    if (thread < 2 * STAGES) {
      make_barrier(full + 8 * thread, thread < STAGES ? 32 * PRODUCERS : CONSUMERS);
    }
    __syncthreads();
  }
  __device__ __forceinline__ void turn() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
  /// A producer: waits until the stage is empty. A new barrier counts as passed once.
  __device__ __forceinline__ void await_empty() const {
    await_barrier(full + 8 * (STAGES + stage), parity ^ 1);
  }
  /// A producer: what this thread was to fetch is under way.
  __device__ __forceinline__ void fetched() const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(full + 8 * stage)
                 : "memory");
  }
  /// A consumer: waits until the stage is full.
  __device__ __forceinline__ void await_full() const { await_barrier(full + 8 * stage, parity); }
  /// A consumer's warp: has read a stage.
  __device__ __forceinline__ void release(unsigned which) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(full + 8 * (STAGES + which));
  }
};

/// __syncthreads for the first THREADS of a block when it has others, too.
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

/// Gives this warpgroup REGISTERS a thread; all its warps must come by.
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
