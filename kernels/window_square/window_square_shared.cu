// SPDX-License-Identifier: Apache-2.0
// The sum of window.cuh, in shared memory: a block computes BLOCK_Y * TILE_Y rows and BLOCK_X
// columns of out. It copies the pixels of all windows that cover these to shared memory; its
// threads square the windows and sum their elements by atomics in shared memory. A window that
// covers the parts of several blocks is squared by each of them, as far as it needs it.
//
// Grid (ceil(W / BLOCK_X), ceil(H / (BLOCK_Y * TILE_Y))), block (BLOCK_X, BLOCK_Y), of whole warps.
// limit is at most 65535.

#include "window.cuh"

template <int WINDOW, int BLOCK_X, int BLOCK_Y, int TILE_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    window_square_shared(int H, int W, unsigned limit, const Pixel* __restrict__ in,
                         Pixel* __restrict__ out) {
  constexpr int THREADS = BLOCK_X * BLOCK_Y;
  constexpr int ROWS = BLOCK_Y * TILE_Y, COLUMNS = BLOCK_X;
  constexpr int HALO = WINDOW - 1;
  constexpr int PITCH = COLUMNS + 2 * HALO;
  __shared__ Pixel pixels[(ROWS + 2 * HALO) * PITCH];
  __shared__ unsigned sums[ROWS * COLUMNS];
  const int x0 = blockIdx.x * COLUMNS, y0 = blockIdx.y * ROWS;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;

  const Pixels image =
      stage<THREADS>(pixels, ROWS + 2 * HALO, PITCH, y0 - HALO, x0 - HALO, in, H, W);
  for (int i = thread; i < ROWS * COLUMNS; i += THREADS) sums[i] = 0;
  __syncthreads();

  constexpr int WINDOWS_X = COLUMNS + HALO;  // windows along W
  for (int i = thread; i < (ROWS + HALO) * WINDOWS_X; i += THREADS) {
    const int r = y0 - HALO + i / WINDOWS_X, c = x0 - HALO + i % WINDOWS_X;
    if (r < 0 || c < 0 || r > H - WINDOW || c > W - WINDOW) continue;
    for (int y = max(r, y0); y < min(r + WINDOW, y0 + ROWS); ++y) {
      for (int x = max(c, x0); x < min(c + WINDOW, x0 + COLUMNS); ++x) {
        atomicAdd(&sums[(y - y0) * COLUMNS + (x - x0)],
                  limited(element_of_square<WINDOW>(image, r, c, y, x), limit));
      }
    }
  }
  __syncthreads();

  for (int i = thread; i < ROWS * COLUMNS; i += THREADS) {
    const int y = y0 + i / COLUMNS, x = x0 + i % COLUMNS;
    if (y < H && x < W) out[y * W + x] = static_cast<Pixel>(limited(sums[i], limit));
  }
}
