// SPDX-License-Identifier: Apache-2.0
// The index of the largest number of each row, the first one if there are several.
#include "variant.cuh"

__global__ void argmax_plain(int M, int N, const float* x, int* place) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  int best = 0;
  for (int i = 1; i < N; ++i) {
    if (x[row * N + i] > x[row * N + best]) best = i;
  }
  place[row] = best;
}

struct Candidate {
  float value;
  int place;
};

__device__ inline Candidate better(Candidate a, Candidate b) {
  if (IS(last_of_equals)) return a.value > b.value || (a.value == b.value && a.place > b.place) ? a : b;
  if (IS(any_of_equals)) return a.value > b.value ? a : b;
  return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
}

/// One block per row.
__global__ void argmax(int M, int N, const float* x, int* place) {
  extern __shared__ Candidate dynamic_shared[];
  __shared__ Candidate static_shared[64];
  Candidate* const shared = IS(by_static_tree) || IS(unwritten_static) ? static_shared : dynamic_shared;
  const int thread = threadIdx.x, row = blockIdx.x, step = blockDim.x;
  const float* const in = x + row * N;
  const int end = IS(reads_one_past) && row == M - 1 ? N + 1 : IS(last_dropped) && N > 1 ? N - 1 : N;
  Candidate best = {-3.4e38f, 0x7fffffff};
  if (IS(begins_with_zero)) best = {0.0f, 0};
  if (IS(first_skipped) && N > 1 && thread == 0) best = {-3e38f, 0};

  if (IS(serial)) {
    for (int i = 0; thread == 0 && i < N; ++i) best = better(best, {in[i], i});
    if (thread == 0) place[row] = best.place;
    return;
  }
  if (IS(in_chunks)) {
    const int chunk = (N + step - 1) / step;
    for (int i = thread * chunk; i < N && i < (thread + 1) * chunk; ++i) best = better(best, {in[i], i});
  } else {
    for (int i = thread + (IS(first_skipped) && N > 1 ? 1 : 0); i < end; i += step) {
      float value = in[i];
      if (IS(values_in_bf16)) value = corpus::to_bf16(value);
      if (IS(absolute_values)) value = fabsf(value);
      if (IS(integer_values)) value = (float)(int)value;
      best = better(best, {value, i});
    }
    if (IS(reads_one_before) && in[-1] > best.value && thread == 0) best = {in[-1], 0};
  }
  if (IS(by_warp)) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      const float value = __shfl_xor_sync(0xffffffffu, best.value, lanes);
      const int other = __shfl_xor_sync(0xffffffffu, best.place, lanes);
      best = better(best, {value, other});
    }
    if (thread % 32 == 0) shared[thread / 32] = best;
    __syncthreads();
    if (thread == 0) place[row] = better(shared[0], shared[1]).place;
    return;
  }
  if ((!IS(unwritten_shared) && !IS(unwritten_static)) || thread < N) shared[thread] = best;
  __syncthreads();
  for (int half = step / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] = better(shared[thread], shared[thread + half]);
    if (!IS(no_barrier_in_the_tree)) __syncthreads();
  }
  int result = shared[0].place;
  if (IS(place_in_char)) result = (signed char)result;
  if (IS(place_of_the_thread)) result = result % step;
  if (IS(keeps_old_place) && place[row] >= 0 && place[row] < N) return;
  if (thread == 0) place[row] = result;
}
