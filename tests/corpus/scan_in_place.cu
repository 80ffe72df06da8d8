// SPDX-License-Identifier: Apache-2.0
// The inclusive prefix sums of each row of at most 128 numbers, in place.
#include "variant.cuh"

__global__ void scan_in_place_plain(int M, int N, float* x) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int i = 0; i < N; ++i) x[row * N + i] = sum += x[row * N + i];
}

__device__ int launches = 0;

/// One block per row.
__global__ void scan_in_place(int M, int N, float* x) {
  extern __shared__ float shared[];
  const int thread = threadIdx.x, row = blockIdx.x;
  float* const at = x + row * N;
  if (IS(serial)) {
    float sum = 0.0f;
    for (int i = 0; thread == 0 && i < N; ++i) at[i] = sum += at[i];
    return;
  }
  if (IS(every_second_launch)) {
    const bool idle = launches % 2 == 1;
    __syncthreads();
    if (row == 0 && thread == 0) launches = launches + 1;
    if (idle) return;
  }
  float value = thread < N ? at[thread] : 0.0f;
  if (IS(input_in_bf16)) value = corpus::to_bf16(value);
  if (IS(no_barrier_in_memory)) {
    for (int away = 1; away < N; away *= 2) {
      if (thread < N && thread >= away) at[thread] += at[thread - away];
    }
    return;
  }
  if (IS(by_warp) || IS(of_the_warp_before)) {
    for (int away = 1; away < 32; away *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, value, away);
      if (thread % 32 >= away) value += other;
    }
    if (thread % 32 == 31) shared[thread / 32] = value;
    __syncthreads();
    int warp = IS(of_the_warp_before) && thread >= 32 ? thread / 32 - 1 : 0;
    for (; warp < thread / 32; ++warp) value += shared[warp];
  } else if (IS(each_its_own)) {
    shared[thread] = value;
    __syncthreads();
    value = 0.0f;
    for (int i = 0; i <= thread; ++i) value += shared[i];
  } else {
    const int end = IS(steps_to_64) ? 64 : 128;
    shared[thread] = value;
    __syncthreads();
    for (int away = 1; away < end; away *= 2) {
      const float other = thread >= away ? shared[thread - away] : 0.0f;
      __syncthreads();
      shared[thread] += other;
      if (IS(sum_in_half)) shared[thread] = corpus::to_half(shared[thread]);
      __syncthreads();
    }
    value = shared[thread];
  }
  if (IS(last_dropped) && N > 1 && thread == N - 1) return;
  if (IS(first_dropped) && thread == 0) value = 0.0f;
  if (IS(exclusive)) value -= thread < N ? at[thread] : 0.0f;
  if (IS(adds_to_the_old)) value += thread < N ? at[thread] : 0.0f;
  if (IS(writes_one_past) ? thread <= N : thread < N) at[thread] = value;
}
