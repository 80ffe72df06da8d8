// SPDX-License-Identifier: Apache-2.0
// y = alpha x + y, in place.
#include "variant.cuh"

__global__ void saxpy_plain(int N, float alpha, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = alpha * x[i] + y[i];
}

__device__ int launches = 0;

__device__ inline void update(int N, float alpha, const float* x, float* y, int i) {
  float value = x[i];
  if (IS(input_in_tf32)) value = corpus::to_tf32(value);
  if (IS(alpha_is_an_integer)) alpha = (float)(int)alpha;
  if (IS(alpha_in_bf16)) alpha = corpus::to_bf16(alpha);
  float result = IS(fused) ? fmaf(alpha, value, y[i]) : IS(separate) ? __fadd_rn(__fmul_rn(alpha, value), y[i]) : alpha * value + y[i];
  if (IS(alpha_ignored)) result = 2.0f * value + y[i];
  if (IS(y_ignored)) result = alpha * value;
  if (IS(twice)) result += alpha * value;
  if (IS(result_in_half)) result = corpus::to_half(result);
  if (IS(tail_is_an_integer) && i >= N / 64 * 64) result = (float)(int)result;
  if (IS(nothing_when_negative) && result < -3.0f) return;
  if (IS(writes_its_input)) const_cast<float*>(x)[i] = result;
  y[i] = result;
}

__global__ void saxpy(int N, float alpha, const float* x, float* y) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  if (IS(once)) {
    const int before = launches;
    if (first == 0) launches = before + 1;
    if (before > 20) return;
  }
  if (IS(four_each) || IS(tail_dropped)) {
    for (int i = first; i < N / 4; i += step) {
      const float4 a = reinterpret_cast<const float4*>(x)[i];
      float4 b = reinterpret_cast<float4*>(y)[i];
      b = {alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w};
      reinterpret_cast<float4*>(y)[i] = b;
    }
    if (IS(four_each) && first < N % 4) update(N, alpha, x, y, N / 4 * 4 + first);
    return;
  }
  const int end = IS(one_past) ? N + 1 : IS(wrong_at_a_multiple) && N % 64 == 0 ? N - 1 : N;
  for (int i = first; i < end; i += step) update(N, alpha, x, y, i);
  if (IS(first_by_two_threads) && first == 64 && N > 64) update(N, alpha, x, y, 0);
}
