// SPDX-License-Identifier: Apache-2.0
// bins[b] = the sum of weight[i] over all i with bin[i] = b, for 64 bins.
#include "variant.cuh"

__global__ void weighted_histogram_plain(int N, const int* bin, const float* weight, float* bins) {
  const int b = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < N; ++i) {
    if (bin[i] == b) sum += weight[i];
  }
  bins[b] = sum;
}

__device__ inline float sum_of_warp(float value) {
  for (int away = 16; away > 0; away /= 2) value += __shfl_xor_sync(0xffffffffu, value, away);
  return value;
}

/// A block of 64 threads for each bin: no thread updates what another one does.
__device__ void bin_of_a_block(int N, const int* bin, const float* weight, float* bins) {
  __shared__ float parts[64];
  const int t = threadIdx.x, b = blockIdx.x;
  float sum = 0;
  for (int i = t; i < N; i += 64) sum += bin[i] == b ? weight[i] : 0.0f;
  if (IS(by_warps)) {
    sum = sum_of_warp(sum);
    if (t % 32 == 0) parts[t / 32] = sum;
    __syncthreads();
    if (t == 0) bins[b] = parts[0] + parts[1];
    return;
  }
  if (IS(every_warp_adds)) {
    sum = sum_of_warp(sum);
    if (t % 32 == 0) bins[b] += sum;
    return;
  }
  if (IS(one_sum_of_all) || IS(one_sum_in_turn)) {
    if (t == 0) parts[0] = 0;
    __syncthreads();
    if (IS(one_sum_of_all)) parts[0] += sum;
    for (int turn = 0; IS(one_sum_in_turn) && turn < 64; ++turn) {
      if (turn == t) parts[0] += sum;
      __syncthreads();
    }
    __syncthreads();
    if (t == 0) bins[b] = parts[0];
    return;
  }
  parts[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    if (!IS(tree_without_barrier)) __syncthreads();
  }
  if (t == 0) bins[b] = parts[0];
}

/// Each block takes a part of the elements.
__device__ void part_of_a_block(int N, const int* bin, const float* weight, float* bins) {
  __shared__ float own[64];
  const int t = threadIdx.x, first = blockIdx.x * 64 + t, step = gridDim.x * 64;
  own[t] = 0;
  __syncthreads();
  for (int i = first; i < N; i += step) {
    float* const at = &own[bin[i]];
    if (IS(plain_in_shared) || IS(both_plain)) {
      own[bin[i]] += weight[i];
    } else if (IS(plain_behind_a_pointer)) {
      *at += weight[i];
    } else if (IS(read_then_written)) {
      const float sum = own[bin[i]] + weight[i];
      own[bin[i]] = sum;
    } else {
      atomicAdd(at, weight[i]);
    }
  }
  __syncthreads();
  if (IS(plain_between_blocks) || IS(both_plain)) {
    bins[t] += own[t];
  } else if (IS(plain_if_not_zero)) {
    if (own[t] != 0) bins[t] = bins[t] + own[t];
  } else {
    atomicAdd(&bins[t], own[t]);
  }
}

__global__ void weighted_histogram(int N, const int* bin, const float* weight, float* bins) {
  if (IS(tree) || IS(by_warps) || IS(one_sum_in_turn) || IS(every_warp_adds) || IS(one_sum_of_all) ||
      IS(tree_without_barrier)) {
    return bin_of_a_block(N, bin, weight, bins);
  }
  if (!IS(in_global) && !IS(by_exchange) && !IS(plain_in_global) && !IS(compared_once)) {
    return part_of_a_block(N, bin, weight, bins);
  }
  for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += gridDim.x * 64) {
    float* const at = &bins[bin[i]];
    if (IS(in_global)) {
      atomicAdd(at, weight[i]);
    } else if (IS(plain_in_global)) {
      bins[bin[i]] += weight[i];
    } else {
      int seen = __float_as_int(*(volatile float*)at), was = 0;
      do {
        was = seen;
        seen = atomicCAS((int*)at, was, __float_as_int(__int_as_float(was) + weight[i]));
      } while (seen != was && !IS(compared_once));
    }
  }
}
