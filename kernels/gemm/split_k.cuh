// SPDX-License-Identifier: Apache-2.0
// Blocks that share a tile of C, each with a part of K.
#pragma once

#include "pipeline.cuh"

/// What another block has written.
__device__ __forceinline__ float load_of_other(const float* from) {
#ifdef __CUDA_ARCH__
  return __ldcg(from);
#else
  return *from;
#endif
}

/// Adds up what SPLITS blocks have of a tile, each COUNT values a thread, by COUNT * THREADS floats
/// of `partials` for each block, and one of `arrivals` that is zero before and after. True in the
/// block that came last: it has the sum, added in the order of the splits whoever came when, so
/// that equal inputs give equal results. For the first THREADS threads of a block that has OTHERS.
template <int SPLITS, int THREADS, int OTHERS, int COUNT>
__device__ __forceinline__ bool sum_of_splits(float (&value)[COUNT], float* partials,
                                              unsigned* arrivals, long long tile, int split,
                                              int thread) {
  float* const all = partials + tile * SPLITS * (COUNT * THREADS) + thread;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) all[(split * COUNT + i) * THREADS] = value[i];
  __threadfence();
  sync_threads<THREADS, OTHERS>();
  __shared__ bool last;
  if (thread == 0) {
    last = atomicAdd(arrivals + tile, 1u) == SPLITS - 1;
    if (last) arrivals[tile] = 0;
  }
  sync_threads<THREADS, OTHERS>();
  if (!last) return false;
  __threadfence();
#pragma unroll
  for (int i = 0; i < COUNT; ++i) value[i] = 0.0f;
#pragma unroll 2
  for (int other = 0; other < SPLITS; ++other) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      value[i] += load_of_other(all + (other * COUNT + i) * THREADS);
    }
  }
  return true;
}
