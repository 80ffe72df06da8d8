// SPDX-License-Identifier: Apache-2.0
// Softmax of each row: y = exp(x - max x) / sum of exp(x - max x).
#include "variant.cuh"

__global__ void softmax_plain(int M, int N, const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float top = x[row * N];
  for (int i = 1; i < N; ++i) top = fmaxf(top, x[row * N + i]);
  float sum = 0.0f;
  for (int i = 0; i < N; ++i) sum += expf(x[row * N + i] - top);
  for (int i = 0; i < N; ++i) y[row * N + i] = expf(x[row * N + i] - top) / sum;
}

__device__ float left_over = 0.0f;

__device__ inline float exponential(float x) {
  if (IS(exp2)) return exp2f(1.4426950408889634f * x);
  if (IS(exp_in_half)) return corpus::to_half(expf(x));
  return expf(x);
}

/// Reduces the values of all threads of the block; the result is returned in all of them.
template <class Combine>
__device__ float combined(float value, int used, Combine combine) {
  extern __shared__ float shared[];
  const int thread = threadIdx.x;
  if (IS(warp)) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    }
    return value;
  }
  if (!IS(unwritten_shared) || thread < used) shared[thread] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > (IS(one_step_of_the_tree_less) ? 1 : 0); half /= 2) {
    if (thread < half) shared[thread] = combine(shared[thread], shared[thread + half]);
    if (!IS(no_barrier_in_the_tree)) __syncthreads();
  }
  const float result = shared[0];
  if (!IS(no_barrier_after_the_tree)) __syncthreads();
  return result;
}

/// One block per row.
__global__ void softmax(int M, int N, const float* x, float* y) {
  const int row = blockIdx.x, thread = threadIdx.x, step = blockDim.x;
  if (IS(last_row_dropped) && M > 1 && row == M - 1) return;
  const float* const in = x + row * N;
  float* const out = y + row * N;
  const auto larger = [](float a, float b) { return a > b ? a : b; };
  const auto plus = [](float a, float b) { return a + b; };

  float top = -3e38f, sum = 0.0f;
  if (IS(online)) {
    for (int i = thread; i < N; i += step) {
      const float higher = larger(top, in[i]);
      sum = sum * exponential(top - higher) + exponential(in[i] - higher);
      top = higher;
    }
    const float own = top;
    top = combined(own, N, larger);
    sum = combined(sum * exponential(own - top), N, plus);
  } else {
    const int end = IS(maximum_reads_one_past) ? N + 1 : N;
    for (int i = thread; i < end; i += step) top = larger(top, in[i]);
    if (IS(maximum_of_old_output)) top = larger(top, out[0]);
    top = combined(top, N, larger);
    const int last = IS(sum_drops_the_tail) && N > step ? N / step * step : N;
    for (int i = thread; i < last; i += step) {
      const float x_i = IS(inputs_in_tf32) ? corpus::to_tf32(in[i]) : in[i];
      sum += exponential(x_i - top);
      if (IS(sum_in_half)) sum = corpus::to_half(sum);
    }
    sum = combined(sum, N, plus);
  }
  if (IS(sum_of_the_launch_before)) {
    const float before = left_over;
    __syncthreads();
    if (row == 0 && thread == 0) left_over = sum;
    if (before != 0.0f) sum = before;
  }

  const float inverse = 1.0f / sum;
  for (int i = thread; i < N; i += step) {
    float numerator = exponential(in[i] - top);
    if (IS(borrows_its_input)) {  // and restores it
      volatile float* const place = const_cast<float*>(in) + i;
      const float own = *place;
      *place = numerator;
      numerator = *place;
      *place = own;
    }
    if (IS(writes_its_input)) const_cast<float*>(in)[i] = numerator;
    out[i] = IS(reciprocal) ? numerator * inverse : numerator / sum;
    if (IS(result_in_bf16)) out[i] = corpus::to_bf16(out[i]);
  }
}
