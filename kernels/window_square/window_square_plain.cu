// SPDX-License-Identifier: Apache-2.0
// The sum of window.cuh from its definition, one thread per element: the reference of the other
// kernels.
//
// Grid (ceil(W / 32), ceil(H / 8)), block (32, 8).

#include "window.cuh"

template <int WINDOW>
__global__ void __launch_bounds__(256)
    window_square_plain(int H, int W, unsigned limit, const Pixel* in, Pixel* out) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= W || y >= H) return;
  unsigned long long sum = 0;
  for (int r = max(0, y - WINDOW + 1); r <= min(y, H - WINDOW); ++r) {
    for (int c = max(0, x - WINDOW + 1); c <= min(x, W - WINDOW); ++c) {
      for (int k = 0; k < WINDOW; ++k) {
        sum += 1ull * in[y * W + c + k] * in[(r + k) * W + x];
      }
    }
  }
  out[y * W + x] = static_cast<Pixel>(sum < limit ? sum : limit);
}
