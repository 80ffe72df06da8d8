// SPDX-License-Identifier: Apache-2.0
// bins[place[i]] += values[i], in any order; bins are zero before the launch.
#include "variant.cuh"

__global__ void scatter_add_plain(int N, int B, const int* place, const float* values, float* bins) {
  const int bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin >= B) return;
  float sum = 0.0f;
  for (int i = 0; i < N; ++i) {
    if (place[i] == bin) sum += values[i];
  }
  bins[bin] = sum;
}

__device__ float left_over[64];

__global__ void scatter_add(int N, int B, const int* place, const float* values, float* bins) {
  extern __shared__ float own[];
  const int thread = threadIdx.x, first = blockIdx.x * blockDim.x + thread, step = gridDim.x * blockDim.x;
  if (IS(in_shared) || IS(shared_not_cleared) || IS(no_barrier_before_adding) || IS(overwrites)) {
    for (int bin = thread; bin < B; bin += blockDim.x) {
      if (!IS(shared_not_cleared)) own[bin] = 0.0f;
    }
    __syncthreads();
    for (int i = first; i < N; i += step) atomicAdd(&own[place[i]], values[i]);
    if (!IS(no_barrier_before_adding)) __syncthreads();
    for (int bin = thread; bin < B; bin += blockDim.x) {
      if (IS(overwrites)) {
        bins[bin] = own[bin];
      } else {
        atomicAdd(&bins[bin], own[bin]);
      }
    }
    return;
  }
  if (IS(by_bin)) {
    for (int bin = first; bin < B; bin += step) {
      float sum = 0.0f;
      for (int i = N - 1; i >= 0; --i) sum += place[i] == bin ? values[i] : 0.0f;
      bins[bin] = sum;
    }
    return;
  }
  if (IS(state_kept)) {
    if (blockIdx.x != 0 || thread != 0) return;
    for (int i = 0; i < N; ++i) left_over[place[i] % 64] += values[i];
    for (int bin = 0; bin < B; ++bin) bins[bin] = left_over[bin % 64];
    return;
  }
  const int end = IS(tail_dropped) && N > 64 ? N / 64 * 64 : IS(last_dropped) && N > 1 ? N - 1 : N;
  for (int i = first; i < end; i += step) {
    float value = values[i];
    int bin = place[i];
    if (IS(values_in_tf32)) value = corpus::to_tf32(value);
    if (IS(values_in_fixed_point)) value = (float)(int)(value * 4096.0f) / 4096.0f;
    if (IS(bin_in_five_bits)) bin &= 31;
    if (IS(first_bin_missing) && B > 1 && bin == 0) continue;
    if (IS(absolute_values)) value = fabsf(value);
    if (IS(not_atomic)) {
      bins[bin] += value;
    } else {
      const float before = atomicAdd(&bins[bin], value);
      if (IS(saturates) && before > 6.0f) atomicAdd(&bins[bin], -value);
    }
  }
}
