// SPDX-License-Identifier: Apache-2.0
// y = alpha x + y in bf16, in place; computed in float and rounded once.
#include "variant.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// The reference takes float: what it writes is rounded by the caller.
__global__ void saxpy_plain(int N, float alpha, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = alpha * x[i] + y[i];
}

__device__ inline __nv_bfloat16 toward_zero_bf16(float x) {
  return __ushort_as_bfloat16((unsigned short)(__float_as_uint(x) >> 16));
}
/// What the bits are in the other format of 16 bits.
__device__ inline float as_half(__nv_bfloat16 x) {
  return __half2float(__ushort_as_half(__bfloat16_as_ushort(x)));
}

__device__ inline __nv_bfloat16 updated(float alpha, __nv_bfloat16 x, __nv_bfloat16 y) {
  const float a = IS(inputs_are_halves) ? as_half(x) : __bfloat162float(x), b = __bfloat162float(y);
  if (IS(alpha_in_bf16)) alpha = __bfloat162float(__float2bfloat16(alpha));
  if (IS(alpha_ignored)) return __float2bfloat16(2.0f * a + b);
  if (IS(y_ignored)) return __float2bfloat16(alpha * a);
  if (IS(product_in_bf16)) return __float2bfloat16(__bfloat162float(__float2bfloat16(alpha * a)) + b);
  const float sum = IS(fused) ? fmaf(alpha, a, b) : IS(separate) ? __fadd_rn(__fmul_rn(alpha, a), b) : alpha * a + b;
  if (IS(toward_zero)) return toward_zero_bf16(sum);
  if (IS(rounded_twice)) return __float2bfloat16(corpus::rounded(sum, 8));
  if (IS(result_is_half)) return __ushort_as_bfloat16(__half_as_ushort(__float2half(sum)));
  if (IS(three_bits_less)) return __float2bfloat16(corpus::rounded(sum, 4));
  return __float2bfloat16(sum);
}

__global__ void saxpy(int N, float alpha, const __nv_bfloat16* x, __nv_bfloat16* y) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  if (IS(pairs) || IS(tail_dropped)) {
    for (int i = first; i < N / 2; i += step) {
      const __nv_bfloat162 a = reinterpret_cast<const __nv_bfloat162*>(x)[i];
      __nv_bfloat162 b = reinterpret_cast<__nv_bfloat162*>(y)[i];
      b.x = updated(alpha, a.x, b.x);
      b.y = updated(alpha, a.y, b.y);
      reinterpret_cast<__nv_bfloat162*>(y)[i] = b;
    }
    if (IS(pairs) && first == 0 && N % 2 != 0) y[N - 1] = updated(alpha, x[N - 1], y[N - 1]);
    return;
  }
  for (int i = first; i < (IS(one_past) ? N + 1 : N); i += step) {
    if (IS(writes_its_input) && i == 7) const_cast<__nv_bfloat16*>(x)[i] = y[i];
    y[i] = updated(alpha, x[i], y[i]);
  }
}
