// SPDX-License-Identifier: Apache-2.0
// out[y][x] = sum over v, u < F of filter[v][u] * in[y + v][x + u], accumulated in double
// precision: the reference of the other kernels.
//
// Grid (ceil(W / 32), ceil(H / 8)), block (32, 8).

#include "filter.cuh"

template <int F>
__global__ void __launch_bounds__(256)
    convolution_plain(int H, int W, int, const float* in, const __grid_constant__ Filter<F> filter,
                      float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= W || y >= H) return;
  double sum = 0;
  for (int v = 0; v < F; ++v) {
    for (int u = 0; u < F; ++u) {
      const long long place = static_cast<long long>(y + v) * (W + F - 1) + x + u;
      sum += static_cast<double>(filter.at[v * F + u]) * in[place];
    }
  }
  out[static_cast<long long>(y) * W + x] = static_cast<float>(sum);
}
