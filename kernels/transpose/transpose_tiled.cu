// SPDX-License-Identifier: Apache-2.0
// out = in^T, row-major: in is NY x NX, out NX x NY. Loads and stores are as wide as the row
// lengths allow: a thread loads 4 rows x VEC_X columns, transposes them in registers, and writes
// them to shared memory as 16-byte pieces along NY. The pieces are swizzled, so that they are
// written and read without bank conflicts and without padding.
//
// Memory is written in sectors of 32 bytes. If rows of out are not aligned to sectors, two adjacent
// tiles store parts of the same sector. With STORE_ALIGN > 1 tiles overlap by STORE_ALIGN rows of
// in, and the part of a row of out that a tile stores is shorter by as much, so that it can start
// at a multiple of STORE_ALIGN floats in memory at any alignment of the row.
//
// Grid (tiles, TILE_Y rows high; with STORE_ALIGN > 1 they overlap by STORE_ALIGN rows), block
// (THREADS), dynamic shared memory 4 * TILE_X * TILE_Y bytes. NX is a multiple of VEC_X, NY of
// VEC_Y. LOAD and STORE: see common/cached_access.cuh. BAND: see raster.cuh.

#include "common/cached_access.cuh"
#include "raster.cuh"

/// The index in shared memory of an element of the tile. Shared memory has TILE_Y floats for each
/// column of in, in pieces of four. The position of a piece in its column is XORed with the index
/// of its group of VEC_X columns, so that 8 neighbouring threads access different banks, along NX
/// when they write and along NY when they read. Columns of fewer than 8 pieces have fewer
/// positions.
template <int VEC_X, int TILE_Y>
__device__ __forceinline__ unsigned swizzled_index(unsigned x, unsigned y) {
  constexpr unsigned POSITIONS = TILE_Y / 4 < 8 ? TILE_Y / 4 : 8;
  return x * TILE_Y + (y ^ (x / VEC_X % POSITIONS * 4));
}

/// Assigns the elements of a rectangle that is LANES wide to THREADS threads, row by row. lane()
/// and row() are the position of a thread in an iteration; with a constant iteration only
/// the thread's part is computed at run time.
template <int LANES, int THREADS>
struct ThreadMap {
  static constexpr unsigned WIDE = LANES > THREADS ? LANES / THREADS : 1;  // iterations per row
  static constexpr unsigned HIGH = LANES > THREADS ? 1 : THREADS / LANES;  // rows per iteration
  static __device__ __forceinline__ unsigned lane(unsigned thread, unsigned iteration) {
    return (WIDE > 1 ? thread : thread % LANES) + iteration % WIDE * THREADS;
  }
  static __device__ __forceinline__ unsigned row(unsigned thread, unsigned iteration) {
    return (WIDE > 1 ? 0 : thread / LANES) + iteration / WIDE * HIGH;
  }
};

/// The floats by which `at` is past a multiple of COUNT floats in memory.
template <int COUNT>
__device__ __forceinline__ unsigned misalignment(const float* at) {
  return reinterpret_cast<unsigned long long>(at) / sizeof(float) % COUNT;
}

/// Transposes a tile. WHOLE: all of it is inside the matrix; else `width` x `height` are. `first`:
/// no tile above stores the elements before the first multiple of STORE_ALIGN.
template <bool WHOLE, int VEC_X, int VEC_Y, int TILE_X, int TILE_Y, int STORE_ALIGN, int THREADS,
          int LOAD, int STORE>
__device__ __forceinline__ void transpose_tile(int NX, int NY, unsigned width, unsigned height,
                                               bool first, const float* __restrict__ in,
                                               float* __restrict__ out, float* shared) {
  using Loading = ThreadMap<TILE_X / VEC_X, THREADS>;
  constexpr int LOADS = TILE_X * TILE_Y / (4 * VEC_X * THREADS);
  // Few threads along a row of out, but whole warps: a thread then stores several segments of the
  // same row, for which addresses are computed once.
  constexpr int MIN_LANES = THREADS / TILE_X > 32 ? THREADS / TILE_X : 32;
  constexpr int LANES = TILE_Y / VEC_Y < MIN_LANES ? TILE_Y / VEC_Y : MIN_LANES;
  constexpr int SEGMENT = LANES * VEC_Y, SEGMENTS = TILE_Y / SEGMENT;
  constexpr int ROWS = TILE_X * LANES / THREADS;
  using Storing = ThreadMap<LANES, THREADS>;
  const unsigned thread = threadIdx.x;

  Floats<VEC_X> value[LOADS][4];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const unsigned x = Loading::lane(thread, i) * VEC_X, y = Loading::row(thread, i) * 4;
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      if (WHOLE || (x < width && y + row < height)) {
        value[i][row] = load<LOAD, VEC_X>(in + static_cast<long long>(y + row) * NX + x);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const unsigned x = Loading::lane(thread, i) * VEC_X, y = Loading::row(thread, i) * 4;
    float* const to = shared + swizzled_index<VEC_X, TILE_Y>(x, y);
#pragma unroll
    for (int column = 0; column < VEC_X; ++column) {
      *reinterpret_cast<Floats<4>*>(to + column * TILE_Y) = {
          value[i][0].at[column], value[i][1].at[column], value[i][2].at[column],
          value[i][3].at[column]};
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const unsigned x = Storing::row(thread, i), lane = Storing::lane(thread, i) * VEC_Y;
    float* const row = out + static_cast<long long>(x) * NY;
    const unsigned misaligned_by = misalignment<STORE_ALIGN>(row);
    float* const to = row - misaligned_by + lane;
    const unsigned from = swizzled_index<VEC_X, TILE_Y>(x, lane - misaligned_by);
    const bool of_tile_above =
        STORE_ALIGN > 1 && lane < STORE_ALIGN && !(first && lane >= misaligned_by);
#pragma unroll
    for (int segment = 0; segment < SEGMENTS; ++segment) {
      const bool exists = WHOLE || (x < width && lane - misaligned_by + segment * SEGMENT < height);
      if (exists && !(segment == 0 && of_tile_above)) {
        // The swizzle permutes within 32 floats, so that segments have a constant distance.
        store<STORE>(to + segment * SEGMENT,
                     *reinterpret_cast<const Floats<VEC_Y>*>(shared + (from + segment * SEGMENT)));
      }
    }
  }
}

template <int VEC_X, int VEC_Y, int TILE_X, int TILE_Y, int STORE_ALIGN, int THREADS, int LOAD,
          int STORE, int BAND, bool DIAGONAL, int MIN_BLOCKS>
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose_tiled(int NX, int NY, const float* __restrict__ in, float* __restrict__ out) {
  static_assert(TILE_X * TILE_Y % (4 * VEC_X * THREADS) == 0,
                "every thread loads the same number of groups of 4 rows");
  static_assert(TILE_Y % STORE_ALIGN == 0,
                "every tile starts at the same offset from a multiple of STORE_ALIGN");
  constexpr int STEP_Y = STORE_ALIGN > 1 ? TILE_Y - STORE_ALIGN : TILE_Y;
  extern __shared__ __align__(16) float shared[];

  const Tile tile = tile_of<BAND, DIAGONAL>(blockIdx.x, ceil_div(NX, TILE_X), ceil_div(NY, STEP_Y));
  const int x0 = tile.x * TILE_X, y0 = tile.y * STEP_Y;
  const unsigned width = NX - x0, height = NY - y0;  // from the tile's corner to the edges of in
  in += static_cast<long long>(y0) * NX + x0;
  out += static_cast<long long>(x0) * NY + y0;
  if (width >= TILE_X && height >= TILE_Y) {
    transpose_tile<true, VEC_X, VEC_Y, TILE_X, TILE_Y, STORE_ALIGN, THREADS, LOAD, STORE>(
        NX, NY, width, height, y0 == 0, in, out, shared);
  } else {
    transpose_tile<false, VEC_X, VEC_Y, TILE_X, TILE_Y, STORE_ALIGN, THREADS, LOAD, STORE>(
        NX, NY, width, height, y0 == 0, in, out, shared);
  }
}
