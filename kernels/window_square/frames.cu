// SPDX-License-Identifier: Apache-2.0
// The windowed square of every frame of a sequence (window.cuh): a thread
// computes one element of out from pixels in shared memory.
//
// Grid (ceil(W / 32), ceil(H / 8), frames of this launch), block (32, 8).

#include "window.cuh"

template <int WINDOW>
__global__ void __launch_bounds__(256)
    frames(int first_frame, int H, int W, const Pixel* __restrict__ in, Pixel* __restrict__ out) {
  constexpr int HALO = WINDOW - 1;
  constexpr int PITCH = 32 + 2 * HALO;
  __shared__ Pixel pixels[(8 + 2 * HALO) * PITCH];
  const long long frame = (first_frame + static_cast<long long>(blockIdx.z)) * H * W;
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  const Pixels image =
      stage<256>(pixels, 8 + 2 * HALO, PITCH, y0 - HALO, x0 - HALO, in + frame, H, W);
  __syncthreads();

  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= W || y >= H) return;
  const Covering rows = covering<WINDOW>(y, H), columns = covering<WINDOW>(x, W);
  unsigned long long sum = 0;
  for (int r = rows.first; r <= rows.last; ++r) {
    for (int c = columns.first; c <= columns.last; ++c) {
      sum += element_of_square<WINDOW>(image, r, c, y, x);
    }
  }
  out[frame + y * W + x] = static_cast<Pixel>(limited(sum, 65535));
}
