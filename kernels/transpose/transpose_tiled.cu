// SPDX-License-Identifier: Apache-2.0
// out = in^T, row-major: in is NY x NX, out NX x NY. As wide accesses as the rows' lengths allow on
// both sides: a thread loads 4 rows x VEC_X columns, transposes them in registers, and lays them down
// in shared memory as pieces of 16 bytes along NY. Swizzled, these pieces are written and read
// without bank conflicts and without padding.
//
// Grid (tiles), block (THREADS), dynamic shared memory 4 * TILE_X * TILE_Y bytes. NX is a multiple of
// VEC_X, NY of VEC_Y. The values of LOAD and STORE are in access.cuh, those of BAND in walk.cuh.

#include "access.cuh"
#include "walk.cuh"

/// The tile in shared memory: TILE_Y floats for each column of the matrix that is read, in pieces of
/// four. Where a piece lies among the others of its column changes from group to group of COLUMNS
/// columns, which one thread writes, so that 8 threads side by side meet in different banks, along NX
/// when they write and along NY when they read.
template <int TILE_Y, int COLUMNS>
__device__ __forceinline__ int place(int column, int y) {
  const int piece = (y / 4) ^ (column / COLUMNS % 8);
  return column * TILE_Y + piece * 4 + y % 4;
}

template <int VEC_X, int VEC_Y, int TILE_X, int TILE_Y, int THREADS, int LOAD, int STORE, int BAND,
          bool DIAGONAL, int MIN_BLOCKS>
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose_tiled(int NX, int NY, const float* __restrict__ in, float* __restrict__ out) {
  constexpr int LANES_X = TILE_X / VEC_X;  // threads side by side that load
  constexpr int LANES_Y = TILE_Y / VEC_Y;  // threads side by side that store
  constexpr int LOADS = LANES_X * (TILE_Y / 4) / THREADS;
  constexpr int STORES = TILE_X * LANES_Y / THREADS;
  static_assert(LOADS * THREADS == LANES_X * (TILE_Y / 4), "every thread has as much to load");
  static_assert(STORES * THREADS == TILE_X * LANES_Y, "every thread has as much to store");
  static_assert(TILE_Y % 32 == 0, "pieces of a column change places in groups of 8");
  extern __shared__ __align__(16) float shared[];

  const int thread = threadIdx.x;
  const Tile tile =
      tile_of<BAND, DIAGONAL>(blockIdx.x, ceil_div(NX, TILE_X), ceil_div(NY, TILE_Y));
  const int x0 = tile.x * TILE_X, y0 = tile.y * TILE_Y;
  const int width = NX - x0, height = NY - y0;  // of what is left from the tile's corner on
  const bool whole = width >= TILE_X && height >= TILE_Y;

  Floats<VEC_X> value[LOADS][4];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const int x = (i * THREADS + thread) % LANES_X * VEC_X;
    const int y = (i * THREADS + thread) / LANES_X * 4;
    const float* const from = in + static_cast<long long>(y0 + y) * NX + x0 + x;
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      if (whole || (x < width && y + row < height)) {
        value[i][row] = load<LOAD, VEC_X>(from + static_cast<long long>(row) * NX);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const int x = (i * THREADS + thread) % LANES_X * VEC_X;
    const int y = (i * THREADS + thread) / LANES_X * 4;
#pragma unroll
    for (int column = 0; column < VEC_X; ++column) {
      const Floats<4> piece{value[i][0].at[column], value[i][1].at[column], value[i][2].at[column],
                            value[i][3].at[column]};
      *reinterpret_cast<Floats<4>*>(shared + place<TILE_Y, VEC_X>(x + column, y)) = piece;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < STORES; ++i) {
    const int y = (i * THREADS + thread) % LANES_Y * VEC_Y;
    const int x = (i * THREADS + thread) / LANES_Y;
    if (whole || (x < width && y < height)) {
      const auto group =
          *reinterpret_cast<const Floats<VEC_Y>*>(shared + place<TILE_Y, VEC_X>(x, y));
      store<STORE>(out + static_cast<long long>(x0 + x) * NY + y0 + y, group);
    }
  }
}
