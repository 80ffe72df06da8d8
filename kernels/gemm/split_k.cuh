// SPDX-License-Identifier: Apache-2.0
// Blocks that share a tile of C, each with a part of K.
#pragma once

#include "pipeline.cuh"

/// How many blocks add up their parts before the sums are added up.
constexpr int SPLIT_GROUP = 8;

/// What another block has written.
__device__ __forceinline__ float load_of_other(const float* from) {
#ifdef __CUDA_ARCH__
  return __ldcg(from);
#else
  return *from;
#endif
}

/// Whether this block is the last of `count` to come by, after which all that they have written is
/// there to read; sets the counter back for the next launch. For the first THREADS threads of a
/// block that has OTHERS.
template <int THREADS, int OTHERS>
__device__ __forceinline__ bool comes_last(unsigned* arrivals, unsigned count, int thread) {
  __shared__ bool last;
  __threadfence();
  sync_threads<THREADS, OTHERS>();
  if (thread == 0) {
    last = atomicAdd(arrivals, 1u) == count - 1;
    if (last) *arrivals = 0;
  }
  sync_threads<THREADS, OTHERS>();
  const bool mine = last;
  __threadfence();
  return mine;
}

/// Adds up what `splits` blocks have of a tile, each COUNT values a thread. True in the block that
/// has the sum in the end. Groups of blocks add up theirs first, and the groups' sums are added
/// then, by whichever block came last but always in the same order: equal inputs give equal
/// results. `partials` holds COUNT * THREADS floats for each block of each tile; `arrivals` one
/// counter for each group and one more for each tile, zero before and after.
template <int THREADS, int OTHERS, int COUNT>
__device__ __forceinline__ bool sum_of_splits(float (&value)[COUNT], float* partials,
                                              unsigned* arrivals, long long tile, int split,
                                              int splits, int thread) {
  const int groups = (splits + SPLIT_GROUP - 1) / SPLIT_GROUP;
  const int group = split / SPLIT_GROUP;
  const int left = splits - group * SPLIT_GROUP;
  const int members = left < SPLIT_GROUP ? left : SPLIT_GROUP;
  float* const all = partials + tile * splits * (COUNT * THREADS) + thread;
  unsigned* const counters = arrivals + tile * (groups + 1);
  const auto store = [&](int at) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) all[(at * COUNT + i) * THREADS] = value[i];
  };
  const auto add_up = [&](int first, int step, int count) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) value[i] = 0.0f;
#pragma unroll 2
    for (int other = 0; other < count; ++other) {
      const float* const from = all + (first + other * step) * (COUNT * THREADS);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) value[i] += load_of_other(from + i * THREADS);
    }
  };

  store(split);
  if (!comes_last<THREADS, OTHERS>(counters + 1 + group, members, thread)) return false;
  add_up(group * SPLIT_GROUP, 1, members);
  if (groups == 1) return true;
  store(group * SPLIT_GROUP);
  if (!comes_last<THREADS, OTHERS>(counters, groups, thread)) return false;
  add_up(0, SPLIT_GROUP, groups);
  return true;
}
