// SPDX-License-Identifier: Apache-2.0
// Launches that begin before those before them on the stream have ended: programmatic dependent
// launch, of compute capability 9.0. A launch that is not made so begins when all have ended.
#pragma once

/// Lets the next launch on the stream begin where this grid leaves room, once all blocks have
/// called it or ended.
__device__ __forceinline__ void allow_next_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the launches before this one have ended. Before that no thread may read what they
/// write, nor write at all.
__device__ __forceinline__ void await_earlier_launches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
