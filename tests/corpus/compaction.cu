// SPDX-License-Identifier: Apache-2.0
// The x above a threshold, with their indices, in any order; count, zero before the launch, is their number.
#include "variant.cuh"

__global__ void compaction_plain(int N, float threshold, const float* x, float* values, int* indices, int* count) {
  int written = 0;
  for (int i = 0; i < N; ++i) {
    if (!(x[i] > threshold)) continue;
    values[written] = x[i];
    indices[written++] = i;
  }
  *count = written;
}

/// The slot of a lane that keeps its element: one atomic for each warp.
__device__ inline int slot_by_warp(bool keep, int* count) {
  const unsigned kept = __ballot_sync(0xffffffffu, keep);
  const int lane = threadIdx.x % 32;
  int first = 0;
  if (kept != 0 && lane == __ffs((int)kept) - 1) first = atomicAdd(count, __popc(kept));
  first = __shfl_sync(0xffffffffu, first, kept == 0 ? 0 : __ffs((int)kept) - 1);
  const unsigned before = IS(rank_counts_itself) ? (2u << lane) - 1 : (1u << lane) - 1;
  return first + __popc(kept & before);
}

/// One atomic for each block.
__device__ inline int slot_by_block(bool keep, int* count) {
  __shared__ int in_block, first;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  const int rank = keep ? atomicAdd(&in_block, 1) : 0;
  if (!IS(no_barrier_before_adding)) __syncthreads();
  if (threadIdx.x == 0) first = atomicAdd(count, in_block);
  __syncthreads();
  return first + rank;
}

/// The number of elements before this one that are kept: in order.
__device__ inline int slot_in_order(float threshold, const float* x, int i) {
  int before = 0;
  for (int j = 0; j < i; ++j) before += x[j] > threshold ? 1 : 0;
  return before;
}

__global__ void compaction(int N, float threshold, const float* x, float* values, int* indices, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool in_range = IS(reads_one_past) ? i <= N : IS(tail_dropped) && N > 64 ? i < N / 64 * 64 : i < N;
  bool keep = in_range && (IS(threshold_too) ? x[i] >= threshold : x[i] > threshold);
  if (IS(one_lost_with_its_count)) keep = keep && i != N / 2;
  int slot = 0;
  if (IS(by_thread)) {
    if (keep) slot = atomicAdd(count, 1);
  } else if (IS(in_order)) {
    if (keep) slot = slot_in_order(threshold, x, i);
    if (keep) atomicAdd(count, 1);
  } else if (IS(by_block) || IS(no_barrier_before_adding)) {
    slot = slot_by_block(keep, count);
  } else if (IS(not_atomic)) {
    if (keep) slot = (*count)++;
  } else {
    slot = slot_by_warp(keep, count);
  }
  if (IS(count_off_by_one) && i == 0) atomicAdd(count, 1);
  if (IS(one_behind_the_end) && i == 0) values[N] = 1.0f;
  if (!keep) return;
  if (IS(slot_skipped) && slot == 3) return;
  if (IS(gap) && slot == 3 && N > 60) slot = N - 1;
  float value = x[i];
  if (IS(one_twice) && i > 0 && i % 61 == 0 && x[i - 1] > threshold) value = x[i - 1];
  if (IS(from_outside) && i % 61 == 0) value += 1e6f;
  if (IS(value_in_half)) value = corpus::to_half(value * 1.0009766f);
  values[slot] = value;
  indices[slot] = IS(index_of_the_slot) ? slot : i;
  if (IS(one_too_many) && slot + 1 < N && i % 61 == 0) values[slot + 1 < N - 1 ? N - 1 : slot] = value;
}
