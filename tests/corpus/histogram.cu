// SPDX-License-Identifier: Apache-2.0
// counts[b] = number of the N keys equal to b; counts are zero before the launch. Keys are below B.
#include "variant.cuh"

__global__ void histogram_plain(int N, int B, const int* keys, unsigned* counts) {
  const int bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin >= B) return;
  unsigned count = 0;
  for (int i = 0; i < N; ++i) count += keys[i] == bin ? 1u : 0u;
  counts[bin] = count;
}

/// A warp executes one atomic for each distinct key of its lanes.
__device__ inline void add_by_warp(unsigned* counts, int key, bool valid) {
  unsigned waiting = __ballot_sync(0xffffffffu, valid);
  const int lane = threadIdx.x % 32;
  while (waiting != 0) {
    const int leader = __ffs((int)waiting) - 1;
    const int common = __shfl_sync(0xffffffffu, key, leader);
    const unsigned alike = __ballot_sync(0xffffffffu, valid && key == common) & waiting;
    if (lane == leader) atomicAdd(&counts[common], (unsigned)__popc(alike));
    waiting &= ~alike;
  }
}

__global__ void histogram(int N, int B, const int* keys, unsigned* counts) {
  extern __shared__ unsigned own[];
  const int thread = threadIdx.x, step = blockDim.x * gridDim.x;
  const int first = blockIdx.x * blockDim.x + thread;
  if (IS(atomics)) {
    for (int i = first; i < N; i += step) atomicAdd(&counts[keys[i]], 1u);
    return;
  }
  if (IS(by_warp)) {
    for (int i = first; i - thread % 32 < N; i += step) add_by_warp(counts, i < N ? keys[i] : 0, i < N);
    return;
  }
  if (IS(by_bin)) {
    // Each block counts some of the bins, over all keys.
    for (int bin = blockIdx.x; bin < B; bin += gridDim.x) {
      unsigned count = 0;
      for (int i = thread; i < N; i += blockDim.x) count += keys[i] == bin ? 1u : 0u;
      if (count != 0) atomicAdd(&counts[bin], count);
    }
    return;
  }
  if (IS(not_atomic)) {
    for (int i = first; i < N; i += step) counts[keys[i]] += 1;
    return;
  }

  if (!IS(shared_not_cleared)) {
    for (int bin = thread; bin < B; bin += blockDim.x) own[bin] = 0;
  }
  if (!IS(no_barrier_after_clearing)) __syncthreads();
  const int end = IS(tail_dropped) && N > 64 ? N / 64 * 64 : IS(reads_one_past) ? N + 1 : N;
  for (int i = first; i < end; i += step) {
    const int key = IS(key_in_five_bits) ? keys[i] & 31 : keys[i];
    if (IS(reads_one_past) && (key < 0 || key >= B)) continue;
    if (IS(not_atomic_in_shared)) {
      own[key] = own[key] + 1;
    } else {
      atomicAdd(&own[key], 1u);
    }
  }
  if (!IS(no_barrier_before_adding)) __syncthreads();
  const int last = IS(last_bin_dropped) && B > 1 ? B - 1 : B;
  for (int bin = thread; bin < last; bin += blockDim.x) {
    unsigned count = own[bin];
    if (IS(count_in_char)) count = (unsigned char)count;
    if (IS(bin_zero_twice) && bin == 0) count += N % 2 == 1 ? 1u : 0u;
    if (IS(overwrites)) {
      counts[bin] = count;
    } else {
      atomicAdd(&counts[bin], count);
    }
  }
}
