// SPDX-License-Identifier: Apache-2.0
// Split-K of the kernels without tensor cores: several blocks compute a tile of C, each for a part
// of K. Kernels on tensor cores poll the sums instead: split_sums.cuh.
#pragma once

#include "pipeline.cuh"

/// Blocks whose partial sums are added first; then the sums of these groups are added.
constexpr int SPLIT_GROUP = 8;

/// Reads what another block wrote, from the L2 cache.
template <class T>
__device__ __forceinline__ T load_from_l2(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldcg(from);
#else
  return *from;
#endif
}

/// Whether this block is the last of `count` to arrive. It can then read what the others wrote, and
/// it resets the counter for the next launch. Called by the first THREADS threads of a block that
/// has OTHERS.
template <int THREADS, int OTHERS>
__device__ __forceinline__ bool is_last_block(unsigned* arrivals, unsigned count, int thread) {
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

/// Adds the partial sums of a tile of `splits` blocks, COUNT values per thread. Returns true in the
/// block that has the result. First the partial sums of each group of SPLIT_GROUP blocks are added,
/// then the sums of the groups, each by the last block to arrive but in a fixed order: equal inputs
/// give equal bits. `partials` has COUNT * THREADS sums for each block of each tile; `arrivals`
/// has a counter for each group and one for each tile, zero before and after.
template <int THREADS, int OTHERS, class T, int COUNT>
__device__ __forceinline__ bool reduce_splits(T (&value)[COUNT], T* partials, unsigned* arrivals,
                                              long long tile, int split, int splits, int thread) {
  const int groups = (splits + SPLIT_GROUP - 1) / SPLIT_GROUP;
  const int group = split / SPLIT_GROUP;
  const int left = splits - group * SPLIT_GROUP;
  const int members = left < SPLIT_GROUP ? left : SPLIT_GROUP;
  T* const all = partials + tile * splits * (COUNT * THREADS) + thread;
  unsigned* const counters = arrivals + tile * (groups + 1);
  const auto store = [&](int at) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) all[(at * COUNT + i) * THREADS] = value[i];
  };
  const auto add_up = [&](int first, int step, int count) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) value[i] = 0;
#pragma unroll 2
    for (int other = 0; other < count; ++other) {
      const T* const from = all + (first + other * step) * (COUNT * THREADS);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) value[i] += load_from_l2(from + i * THREADS);
    }
  };

  store(split);
  if (!is_last_block<THREADS, OTHERS>(counters + 1 + group, members, thread)) return false;
  add_up(group * SPLIT_GROUP, 1, members);
  if (groups == 1) return true;
  store(group * SPLIT_GROUP);
  if (!is_last_block<THREADS, OTHERS>(counters, groups, thread)) return false;
  add_up(0, SPLIT_GROUP, groups);
  return true;
}
