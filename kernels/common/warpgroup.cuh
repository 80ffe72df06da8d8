// SPDX-License-Identifier: Apache-2.0
// Warpgroups, four consecutive warps: registers and barriers. Compute capability 9.0.
#pragma once

constexpr int WARPGROUP = 128;  ///< threads

/// Changes the registers per thread of this warpgroup from BEFORE to REGISTERS (setmaxnreg). Called
/// by all its warps.
template <int REGISTERS, int BEFORE>
__device__ __forceinline__ void set_register_count() {
#ifndef TUNER_CPU_BACKEND
  if constexpr (REGISTERS < BEFORE) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
  }
#endif
}

/// A barrier of this warpgroup. `barrier` is 1 to 15, different for each warpgroup of a block.
__device__ __forceinline__ void sync_warpgroup(int barrier) {
#ifndef TUNER_CPU_BACKEND
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(WARPGROUP) : "memory");
#else
  tuner::sync_named(barrier, WARPGROUP);
#endif
}

/// Arrives at a barrier of THREADS threads of the block, and does not wait for it.
template <int THREADS>
__device__ __forceinline__ void arrive_at_block() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("bar.arrive 0, %0;" ::"n"(THREADS) : "memory");
#else
  tuner::sync_named(0, THREADS);
#endif
}
/// Arrives at it and waits.
template <int THREADS>
__device__ __forceinline__ void sync_block() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("bar.sync 0, %0;" ::"n"(THREADS) : "memory");
#else
  tuner::sync_named(0, THREADS);
#endif
}
