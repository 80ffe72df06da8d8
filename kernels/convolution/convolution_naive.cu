// SPDX-License-Identifier: Apache-2.0
// out[y][x] = sum over v, u < F of filter[v][u] * in[y + v][x + u] in single precision, row-major:
// out is H x W, in (H + F - 1) x (W + F - 1), filter F x F. One thread computes one element of out,
// from global memory: the baseline.
//
// Grid (ceil(W / BLOCK_X), ceil(H / BLOCK_Y)), block (BLOCK_X, BLOCK_Y).

#include "filter.cuh"

template <int F, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    convolution_naive(int H, int W, int, const float* __restrict__ in,
                      const __grid_constant__ Filter<F> filter, float* __restrict__ out) {
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (x >= W || y >= H) return;
  float sum = 0.0f;
  for (int v = 0; v < F; ++v) {
    const float* const row = in + static_cast<long long>(y + v) * (W + F - 1) + x;
    for (int u = 0; u < F; ++u) sum += filter.at[v * F + u] * row[u];
  }
  out[static_cast<long long>(y) * W + x] = sum;
}
