// SPDX-License-Identifier: Apache-2.0
// The sum of window.cuh, in global memory: a thread squares a window and adds its elements to
// `sums` by atomics. The upper 8 bits of a sum count the windows that have been added; the thread
// that adds the last one stores the result and resets the sum for the next launch. So WINDOW is at
// most 15: at most 225 windows cover an element, and 225 * 65535 is below 2^24.
//
// Grid (ceil((W - WINDOW + 1) / BLOCK_X), ceil((H - WINDOW + 1) / BLOCK_Y)), block (BLOCK_X,
// BLOCK_Y); H * W sums, zero before and after. limit is at most 65535.

#include "window.cuh"

template <int WINDOW, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    window_square_atomic(int H, int W, unsigned limit, const Pixel* __restrict__ in, Pixel* out,
                         unsigned* sums) {
  const int c = blockIdx.x * BLOCK_X + threadIdx.x;
  const int r = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (r > H - WINDOW || c > W - WINDOW) return;
  constexpr unsigned kOneWindow = 1u << 24;
  const Pixels image{in, W, 0, 0};
  for (int y = r; y < r + WINDOW; ++y) {
    const Covering rows = covering<WINDOW>(y, H);
    for (int x = c; x < c + WINDOW; ++x) {
      const unsigned mine =
          kOneWindow + limited(element_of_square<WINDOW>(image, r, c, y, x), limit);
      const unsigned sum = atomicAdd(&sums[y * W + x], mine) + mine;
      const Covering columns = covering<WINDOW>(x, W);
      const unsigned windows = (rows.last - rows.first + 1) * (columns.last - columns.first + 1);
      if (sum / kOneWindow != windows) continue;
      out[y * W + x] = static_cast<Pixel>(limited(sum % kOneWindow, limit));
      sums[y * W + x] = 0;
    }
  }
}
