// SPDX-License-Identifier: Apache-2.0
// sum[0] = x[0] + … + x[N - 1] in one launch: blocks of 64 threads hand their parts to others.
#include "variant.cuh"

constexpr int kMostBlocks = 64, kLanes = 32;
__device__ unsigned arrived, ticket, turn;
__device__ float parts[kMostBlocks * kLanes];
__device__ unsigned flags[kMostBlocks];

__global__ void grid_sum_plain(int N, const float* x, float* sum) {
  float all = 0;
  for (int i = 0; i < N; ++i) all += x[i];
  *sum = all;
}

__device__ inline float sum_of_warp(float value) {
  for (int away = 16; away > 0; away /= 2) value += __shfl_xor_sync(0xffffffffu, value, away);
  return value;
}

/// Every thread gets what the elements of one block add up to.
__device__ float sum_of_block(int block, int N, const float* x) {
  __shared__ float warps[2];
  float own = 0;
  for (int i = block * 64 + threadIdx.x; i < N; i += gridDim.x * 64) own += x[i];
  own = sum_of_warp(own);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
  __syncthreads();
  return warps[0] + warps[1];
}

/// The last block to arrive adds the parts of all, one number each.
__device__ void by_the_last_block(int N, const float* x, float* sum) {
  const float own = sum_of_block(blockIdx.x, N, x);
  if (threadIdx.x != 0) return;
  volatile float* const seen = parts;
  if (IS(fence_before_the_write)) __threadfence();
  if (IS(volatile_parts)) {
    seen[blockIdx.x] = own;
  } else if (IS(parts_by_exchange)) {
    atomicExch(&parts[blockIdx.x], own);
  } else {
    parts[blockIdx.x] = own;
  }
  if (IS(fence_of_the_block)) __threadfence_block();
  if (IS(last_block) || IS(volatile_parts) || IS(parts_by_exchange) || IS(counted_plainly)) __threadfence();
  unsigned before = 0;
  if (IS(counted_plainly)) {
    before = arrived;
    arrived = before + 1;
  } else {
    before = atomicAdd(&arrived, 1u);
  }
  if (IS(fence_after_arrival)) __threadfence();
  if (before != gridDim.x - 1) return;
  __threadfence();
  float all = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) all += parts[i];
  *sum = all;
  arrived = 0;
}

/// The same with a number for each lane.
__device__ void lanes_by_the_last_block(int N, const float* x, float* sum) {
  __shared__ bool last;
  const int t = threadIdx.x;
  float own = 0;
  for (int i = blockIdx.x * 64 + t; i < N; i += gridDim.x * 64) own += x[i];
  if (t >= kLanes) parts[blockIdx.x * kLanes + t - kLanes] = own;
  __syncthreads();
  if (t < kLanes) parts[blockIdx.x * kLanes + t] += own;
  if (IS(fence_of_all) || IS(no_barrier_after_fences)) __threadfence();
  if (!IS(no_barrier_after_fences)) __syncthreads();
  if (t == 0) {
    if (IS(fence_of_one)) __threadfence();
    last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  own = 0;
  for (unsigned i = t; i < gridDim.x * kLanes; i += 64) own += parts[i];
  own = sum_of_warp(own);
  __shared__ float warps[2];
  if (t % 32 == 0) warps[t / 32] = own;
  __syncthreads();
  if (t != 0) return;
  *sum = warps[0] + warps[1];
  arrived = 0;
}

/// Blocks add to the result one after the other.
__device__ void one_after_the_other(int N, const float* x, float* sum) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = atomicAdd(&ticket, 1u);
  __syncthreads();
  const float own = sum_of_block(mine, N, x);
  if (threadIdx.x != 0) return;
  if (IS(waits_for_nobody)) {
    *sum = mine == 0 ? own : *sum + own;
  } else {
    while (atomicAdd(&turn, 0u) != mine) __nanosleep(20);
    __threadfence();
    *sum = mine == 0 ? own : *sum + own;
  }
  if (IS(in_turn)) __threadfence();
  if (mine == gridDim.x - 1) {
    ticket = 0;
    atomicExch(&turn, 0u);
  } else {
    atomicAdd(&turn, 1u);
  }
  if (IS(in_turn_fence_too_late)) __threadfence();
}

/// Each block adds its part to what the block before it found, and shows a flag.
__device__ void look_back(int N, const float* x, float* sum) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = atomicAdd(&ticket, 1u);
  __syncthreads();
  const float own = sum_of_block(mine, N, x);
  if (threadIdx.x != 0) return;
  volatile unsigned* const flag = flags;
  float all = own;
  if (mine > 0) {
    while (!IS(flag_not_awaited) && flag[mine - 1] == 0) {
    }
    __threadfence();
    all += parts[mine - 1];
  }
  parts[mine] = all;
  if (!IS(look_back_no_fence)) __threadfence();
  flag[mine] = 1;
  if (mine != gridDim.x - 1) return;
  *sum = all;
  for (unsigned i = 0; i < gridDim.x; ++i) flag[i] = 0;
  ticket = 0;
}

__global__ void grid_sum(int N, const float* x, float* sum) {
  if (IS(fence_of_all) || IS(fence_of_one) || IS(no_fence_of_lanes) || IS(no_barrier_after_fences)) {
    return lanes_by_the_last_block(N, x, sum);
  }
  if (IS(in_turn) || IS(in_turn_no_fence) || IS(in_turn_fence_too_late) || IS(waits_for_nobody)) {
    return one_after_the_other(N, x, sum);
  }
  if (IS(looking_back) || IS(look_back_no_fence) || IS(flag_not_awaited)) return look_back(N, x, sum);
  by_the_last_block(N, x, sum);
}
