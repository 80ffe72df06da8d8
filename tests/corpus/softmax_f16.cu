// SPDX-License-Identifier: Apache-2.0
// Softmax of each row in half precision, computed in float.
#include "variant.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void softmax_plain(int M, int N, const __half* x, __half* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float top = __half2float(x[row * N]);
  for (int i = 1; i < N; ++i) top = fmaxf(top, __half2float(x[row * N + i]));
  float sum = 0.0f;
  for (int i = 0; i < N; ++i) sum += expf(__half2float(x[row * N + i]) - top);
  for (int i = 0; i < N; ++i) y[row * N + i] = __float2half(expf(__half2float(x[row * N + i]) - top) / sum);
}

__device__ inline float exponential(float x) {
  if (IS(exp2)) return exp2f(1.4426950408889634f * x);
  if (IS(exp_in_half)) return __half2float(__float2half(expf(x)));
  return expf(x);
}

/// A float as a half whose bits are the first ones: rounded toward zero.
__device__ inline __half toward_zero_half(float x) {
  const __half near = __float2half(x);
  return __half2float(near) > x ? __ushort_as_half((unsigned short)(__half_as_ushort(near) - 1)) : near;
}

__device__ inline __half result(float x) {
  if (IS(toward_zero)) return toward_zero_half(x);
  if (IS(result_in_bf16)) return __float2half(corpus::to_bf16(x));
  if (IS(result_is_bf16)) return __ushort_as_half(__bfloat16_as_ushort(__float2bfloat16(x)));
  return __float2half(x);
}

__device__ inline float number(__half x) {
  if (IS(inputs_are_bf16)) return __bfloat162float(__ushort_as_bfloat16(__half_as_ushort(x)));
  if (IS(sign_lost)) return __half2float(__habs(x));
  if (IS(inputs_in_bf16)) return corpus::to_bf16(__half2float(x));
  return __half2float(x);
}

/// A thread per row.
__global__ void softmax(int M, int N, const __half* x, __half* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || (IS(last_row_dropped) && M > 1 && row == M - 1)) return;
  const __half* const in = x + row * N;
  __half* const out = y + row * N;
  float top = -65504.0f, sum = 0.0f;
  if (IS(online)) {
    for (int i = 0; i < N; ++i) {
      const float higher = fmaxf(top, number(in[i]));
      sum = sum * exponential(top - higher) + exponential(number(in[i]) - higher);
      top = higher;
    }
  } else {
    for (int i = 0; i < N; ++i) top = fmaxf(top, number(in[i]));
    __half half_sum = __float2half(0.0f);
    float backwards = 0.0f;
    for (int i = 0; i < (IS(sum_drops_the_tail) ? N / 32 * 32 : N); ++i) {
      const float term = exponential(number(in[i]) - top);
      sum += term;
      half_sum = __hadd(half_sum, __float2half(term));
      backwards += exponential(number(in[N - 1 - i]) - top);
    }
    if (IS(sum_in_half)) sum = __half2float(half_sum);
    if (IS(backwards)) sum = backwards;
  }
  const float factor = 1.0f / sum;
  for (int i = 0; i < N; ++i) {
    const float value = exponential(number(in[i]) - top);
    if (IS(factor_in_half)) {
      out[i] = __hmul(__float2half(value), __float2half(factor));
    } else {
      out[i] = result(IS(reciprocal) ? value * factor : value / sum);
    }
  }
  if (IS(one_past) && row == M - 1) out[N] = out[0];
}
