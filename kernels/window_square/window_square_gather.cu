// SPDX-License-Identifier: Apache-2.0
// The sum of window.cuh without atomics: a thread computes a tile of TILE_Y x TILE_X elements of
// out, each from all windows that cover it. In the sum over r, c and k, the first factor does not
// depend on r, nor the second on c:
//
//     sum over k of (sum over c of in[y][c + k]) * (sum over r of in[r + k][x])
//
// Except near the edges of the image, both are sliding sums of WINDOW pixels, along a row and along
// a column: the next one adds a pixel and subtracts another.
//
// Grid (ceil(W / (BLOCK_X * TILE_X)), ceil(H / (BLOCK_Y * TILE_Y))), block (BLOCK_X, BLOCK_Y), of
// whole warps. SHARED: pixels are read from shared memory. Rows of out are aligned to VEC pixels.

#include "window.cuh"

template <int COUNT>
struct alignas(COUNT * sizeof(Pixel)) PixelVector {
  Pixel at[COUNT];
};

/// An element of out at any position.
template <int WINDOW>
__device__ __forceinline__ unsigned long long sum_near_edge(const Pixels& in, int H, int W, int y,
                                                            int x) {
  const Covering rows = covering<WINDOW>(y, H), columns = covering<WINDOW>(x, W);
  unsigned long long sum = 0;
  for (int k = 0; k < WINDOW; ++k) {
    unsigned along_row = 0, along_column = 0;
    for (int c = columns.first; c <= columns.last; ++c) along_row += in.at(y, c + k);
    for (int r = rows.first; r <= rows.last; ++r) along_column += in.at(r + k, x);
    sum += static_cast<unsigned long long>(along_row) * along_column;
  }
  return sum;
}

/// COUNT sliding sums of WINDOW pixels: at[i] is the sum from pixel i on.
template <int WINDOW, int COUNT>
struct SlidingSums {
  unsigned at[COUNT];

  /// `pixel(i)` returns pixel i.
  template <class Read>
  __device__ __forceinline__ explicit SlidingSums(Read pixel) {
    unsigned pixels[COUNT + WINDOW - 1];
#pragma unroll
    for (int i = 0; i < COUNT + WINDOW - 1; ++i) pixels[i] = pixel(i);
    at[0] = 0;
#pragma unroll
    for (int i = 0; i < WINDOW; ++i) at[0] += pixels[i];
#pragma unroll
    for (int i = 1; i < COUNT; ++i) at[i] = at[i - 1] + pixels[i + WINDOW - 1] - pixels[i - 1];
  }
};

/// A tile of out whose elements are all covered by WINDOW * WINDOW windows.
template <int WINDOW, int TILE_X, int TILE_Y>
__device__ __forceinline__ void sum_interior(unsigned long long (&sums)[TILE_Y][TILE_X],
                                             const Pixels& in, int y0, int x0) {
  using Row = SlidingSums<WINDOW, TILE_X + WINDOW - 1>;
  using Column = SlidingSums<WINDOW, TILE_Y + WINDOW - 1>;
#pragma unroll
  for (int x = 0; x < TILE_X; ++x) {
    const Column column([&](int i) { return in.at(y0 - WINDOW + 1 + i, x0 + x); });
#pragma unroll
    for (int y = 0; y < TILE_Y; ++y) {
      const Row row([&](int i) { return in.at(y0 + y, x0 - WINDOW + 1 + i); });
#pragma unroll
      for (int k = 0; k < WINDOW; ++k) {
        sums[y][x] += static_cast<unsigned long long>(row.at[x + k]) * column.at[y + k];
      }
    }
  }
}

template <int WINDOW, int VEC, int BLOCK_X, int BLOCK_Y, int TILE_X, int TILE_Y, bool SHARED>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    window_square_gather(int H, int W, unsigned limit, const Pixel* __restrict__ in,
                         Pixel* __restrict__ out) {
  constexpr int ROWS = BLOCK_Y * TILE_Y, COLUMNS = BLOCK_X * TILE_X;
  constexpr int HALO = WINDOW - 1;
  constexpr int PITCH = COLUMNS + 2 * HALO;
  __shared__ Pixel staged[SHARED ? (ROWS + 2 * HALO) * PITCH : 1];
  Pixels image{in, W, 0, 0};
  const int first_x = blockIdx.x * COLUMNS, first_y = blockIdx.y * ROWS;
  if constexpr (SHARED) {
    image = stage<BLOCK_X * BLOCK_Y>(staged, ROWS + 2 * HALO, PITCH, first_y - HALO, first_x - HALO,
                                     in, H, W);
    __syncthreads();
  }

  const int x0 = first_x + threadIdx.x * TILE_X, y0 = first_y + threadIdx.y * TILE_Y;
  if (y0 < HALO || x0 < HALO || y0 + TILE_Y > H - HALO || x0 + TILE_X > W - HALO) {
#pragma unroll 1
    for (int i = 0; i < TILE_Y * TILE_X; ++i) {
      const int y = y0 + i / TILE_X, x = x0 + i % TILE_X;
      if (y >= H || x >= W) continue;
      const unsigned long long sum = sum_near_edge<WINDOW>(image, H, W, y, x);
      out[y * W + x] = static_cast<Pixel>(limited(sum, limit));
    }
    return;
  }

  unsigned long long sums[TILE_Y][TILE_X] = {};
  sum_interior<WINDOW, TILE_X, TILE_Y>(sums, image, y0, x0);
#pragma unroll
  for (int y = 0; y < TILE_Y; ++y) {
#pragma unroll
    for (int x = 0; x < TILE_X; x += VEC) {
      PixelVector<VEC> vector;
#pragma unroll
      for (int i = 0; i < VEC; ++i) {
        vector.at[i] = static_cast<Pixel>(limited(sums[y][x + i], limit));
      }
      *reinterpret_cast<PixelVector<VEC>*>(out + (y0 + y) * W + x0 + x) = vector;
    }
  }
}
