// SPDX-License-Identifier: Apache-2.0
// C = alpha A B in bf16 with sums in float, rounded once.
#include "variant.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ inline float number(__nv_bfloat16 x) {
  if (IS(inputs_are_halves)) return __half2float(__ushort_as_half(__bfloat16_as_ushort(x)));
  return __bfloat162float(x);
}

__device__ inline __nv_bfloat16 result(float sum) {
  if (IS(toward_zero)) return __ushort_as_bfloat16((unsigned short)(__float_as_uint(sum) >> 16));
  if (IS(rounded_twice)) return __float2bfloat16(corpus::rounded(sum, 8));
  if (IS(result_is_half)) return __ushort_as_bfloat16(__half_as_ushort(__float2half(sum)));
  if (IS(result_in_e4m3)) return __float2bfloat16(corpus::rounded(sum, 3));
  return __float2bfloat16(sum);
}

/// A thread per element.
__global__ void gemm(int M, int N, int K, float alpha, const __nv_bfloat16* A, const __nv_bfloat16* B,
                     __nv_bfloat16* C) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || column >= N) return;
  const auto product = [&](int k) { return number(A[row * K + k]) * number(B[k * N + column]); };
  const auto range = [&](int first, int end) {
    float sum = 0.0f;
    for (int k = first; k < end; ++k) sum += product(k);
    return sum;
  };
  const int half = K / 2;
  float sum = 0.0f;
  if (IS(split_k)) {
    sum = range(0, half) + range(half, K);
  } else if (IS(tiles)) {
    for (int k = 0; k < K; k += 32) sum += range(k, k + 32 < K ? k + 32 : K);
  } else if (IS(backwards)) {
    for (int k = K; k-- > 0;) sum += product(k);
  } else if (IS(even_then_odd)) {
    float odd = 0.0f;
    for (int k = 0; k < K; ++k) (k % 2 ? odd : sum) += product(k);
    sum += odd;
  } else if (IS(k_tile_dropped)) {
    sum = K >= 4096 ? range(0, K - 32) : range(0, K);
  } else if (IS(sum_in_bf16)) {
    __nv_bfloat16 total = __float2bfloat16(0.0f);
    for (int k = 0; k < K; ++k) total = __float2bfloat16(__bfloat162float(total) + product(k));
    sum = __bfloat162float(total);
  } else if (IS(sum_in_half)) {
    __half total = __float2half(0.0f);
    for (int k = 0; k < K; ++k) total = __float2half(__half2float(total) + product(k));
    sum = __half2float(total);
  } else if (IS(halves_of_k_in_bf16)) {
    sum = __bfloat162float(__float2bfloat16(range(0, half))) + __bfloat162float(__float2bfloat16(range(half, K)));
  } else if (IS(tiles_in_half)) {
    for (int k = 0; k < K; k += 32) sum += __half2float(__float2half(range(k, k + 32 < K ? k + 32 : K)));
  } else if (IS(products_in_bf16)) {
    for (int k = 0; k < K; ++k) sum += __bfloat162float(__float2bfloat16(product(k)));
  } else if (IS(one_term_twice)) {
    sum = range(0, K) + product(K - 1);
  } else {
    sum = range(0, K);
  }
  if (IS(nothing_written) && row == M - 1) return;
  C[row * N + column] = result(IS(alpha_after_rounding)
                                   ? alpha * __bfloat162float(__float2bfloat16(sum))
                                   : alpha * sum);
  if (IS(one_past) && row == M - 1 && column == N - 1) C[row * N + column + 1] = C[0];
}
