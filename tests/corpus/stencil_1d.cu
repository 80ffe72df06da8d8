// SPDX-License-Identifier: Apache-2.0
// The second derivative, with fourth-order accuracy: y = (-x[-2] + 16 x[-1] - 30 x + 16 x[1] - x[2]) / 12;
// x is 0 outside.
#include "variant.cuh"

__device__ inline float inside(const float* x, int i, int N) {
  return i >= 0 && i < N ? x[i] : 0.0f;
}

__global__ void stencil_1d_plain(int N, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  y[i] = (-inside(x, i - 2, N) + 16.0f * inside(x, i - 1, N) - 30.0f * x[i] + 16.0f * inside(x, i + 1, N) -
          inside(x, i + 2, N)) / 12.0f;
}

__device__ inline float derivative(float a, float b, float c, float d, float e) {
  if (IS(factored)) return (16.0f * (b + d) - (a + e) - 30.0f * c) * (1.0f / 12.0f);
  if (IS(of_second_order)) return b - 2.0f * c + d;
  if (IS(one_sided_sum)) return (-a + 16.0f * b - 30.0f * c + 16.0f * d) / 12.0f;
  if (IS(centre_in_tf32)) c = corpus::to_tf32(c);
  if (IS(by_fused)) {
    return fmaf(-30.0f / 12.0f, c, fmaf(16.0f / 12.0f, b + d, (a + e) * (-1.0f / 12.0f)));
  }
  return (-a + 16.0f * b - 30.0f * c + 16.0f * d - e) / 12.0f;
}

__device__ inline float at(const float* x, int i, int N) {
  if (IS(reads_one_past)) return i >= 0 && i <= N ? x[i] : 0.0f;
  if (IS(reads_one_before)) return i >= -1 && i < N ? x[i] : 0.0f;
  // The comparison is false for the NaN after the end of the input.
  if (IS(reads_past_if_small)) return i >= 0 && (i < N || (i == N && x[i] < 1e30f)) ? x[i] : 0.0f;
  if (IS(edges_repeat)) return x[i < 0 ? 0 : i >= N ? N - 1 : i];
  return inside(x, i, N);
}

__global__ void stencil_1d(int N, const float* x, float* y) {
  extern __shared__ float dynamic_tile[];
  __shared__ float static_tile[70];  // the last two are never written
  float* const tile = IS(tiled_statically) || IS(unwritten_static_halo) ? static_tile : dynamic_tile;
  const int thread = threadIdx.x, step = blockDim.x, first = blockIdx.x * step, i = first + thread;
  if (IS(tiled) || IS(tiled_statically) || IS(no_barrier) || IS(halo_missing) || IS(unwritten_halo) ||
      IS(unwritten_static_halo)) {
    tile[thread + 2] = at(x, i, N);
    if (thread < 2) {
      if (!IS(unwritten_halo) || first > 0) tile[thread] = IS(halo_missing) ? 0.0f : at(x, first + thread - 2, N);
      tile[step + 2 + thread] = at(x, first + step + thread, N);
    }
    if (!IS(no_barrier)) __syncthreads();
    if (i >= N) return;
    float before = tile[thread], left = tile[thread + 1];
    if (IS(unwritten_halo) && i < 2) {
      // Replaces unwritten values that are not positive, such as NaN or zero, by zero.
      before = before > 0.0f ? before : 0.0f;
      left = i == 0 ? (left > 0.0f ? left : 0.0f) : left;
    }
    if (IS(unwritten_static_halo) && i < 2) before = tile[68 + i];
    if (IS(unwritten_static_halo) && i == 0) left = tile[69];
    y[i] = derivative(before, left, tile[thread + 2], tile[thread + 3], tile[thread + 4]);
    return;
  }
  for (int j = i; j < N; j += IS(grid_stride) ? gridDim.x * step : N) {
    float result = derivative(at(x, j - 2, N), at(x, j - 1, N), at(x, j, N), at(x, j + 1, N), at(x, j + 2, N));
    const bool in_the_tail = j >= N / step * step;
    if (IS(tail_is_an_integer) && in_the_tail) result = (float)(int)result;
    if (IS(tail_in_half) && in_the_tail) result = corpus::to_half(result);
    if (IS(tail_dropped) && in_the_tail) return;
    if (IS(skips_what_is_right) && y[j] == result) return;
    if (IS(keeps_what_is_large) && y[j] > 1e4f) return;
    y[j] = result;
  }
}
