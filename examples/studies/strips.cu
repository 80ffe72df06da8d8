// SPDX-License-Identifier: Apache-2.0
// The windowed square of a part of an image (window.cuh): rows [first_row, first_row + rows). The
// strip reads WINDOW - 1 rows of its neighbours on each side. A thread computes one element of out
// from pixels in shared memory.
//
// Grid (ceil(W / 32), ceil(rows / 8)), block (32, 8).

#include "window.cuh"

template <int WINDOW>
__global__ void __launch_bounds__(256)
    strip(int first_row, int rows, int H, int W, const Pixel* __restrict__ in,
          Pixel* __restrict__ out) {
  constexpr int HALO = WINDOW - 1;
  constexpr int PITCH = 32 + 2 * HALO;
  __shared__ Pixel pixels[(8 + 2 * HALO) * PITCH];
  const int x0 = blockIdx.x * 32, y0 = first_row + blockIdx.y * 8;
  const Pixels image = stage<256>(pixels, 8 + 2 * HALO, PITCH, y0 - HALO, x0 - HALO, in, H, W);
  __syncthreads();

  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= W || y >= min(H, first_row + rows)) return;
  const Covering windows = covering<WINDOW>(y, H), columns = covering<WINDOW>(x, W);
  unsigned long long sum = 0;
  for (int r = windows.first; r <= windows.last; ++r) {
    for (int c = columns.first; c <= columns.last; ++c) {
      sum += element_of_square<WINDOW>(image, r, c, y, x);
    }
  }
  out[y * W + x] = static_cast<Pixel>(limited(sum, 65535));
}
