// SPDX-License-Identifier: Apache-2.0
// out = in^T, row-major: in is NY x NX, out NX x NY. Loads and stores are as wide as the row
// lengths allow: a thread loads as many rows as 16 bytes have elements x VEC_X columns, transposes
// them in registers, and writes them to shared memory as 16-byte pieces along NY. The pieces are
// swizzled, so that they are written and read without bank conflicts and without padding.
//
// Memory is written in sectors of 32 bytes. If rows of out are not aligned to sectors, two adjacent
// tiles store parts of the same sector. With STORE_ALIGN > 1 tiles overlap by STORE_ALIGN rows of
// in, and the part of a row of out that a tile stores is shorter by as much, so that it can start
// at a multiple of STORE_ALIGN elements in memory at any alignment of the row.
//
// The kernel's TILE_X, TILE_Y and STORE_ALIGN count 4 bytes, so that they fit every type.
//
// Grid (tiles, TILE_Y rows high; with STORE_ALIGN > 1 they overlap by STORE_ALIGN rows), block
// (THREADS), dynamic shared memory for a tile. NX is a multiple of VEC_X, NY of
// VEC_Y. LOAD and STORE: see common/cached_access.cuh. BAND: see raster.cuh.

#include "common/cached_access.cuh"
#include "raster.cuh"

/// The index in shared memory of an element of the tile. Shared memory has TILE_Y elements for each
/// column of in, in pieces of PIECE. The position of a piece in its column is XORed with the index
/// of its group of VEC_X columns, so that 8 neighbouring threads access different banks, along NX
/// when they write and along NY when they read. Columns of fewer than 8 pieces have fewer
/// positions.
template <int PIECE, int VEC_X, int TILE_Y>
__device__ __forceinline__ unsigned swizzled_index(unsigned x, unsigned y) {
  constexpr unsigned POSITIONS = TILE_Y / PIECE < 8 ? TILE_Y / PIECE : 8;
  return x * TILE_Y + (y ^ (x / VEC_X % POSITIONS * PIECE));
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

/// The elements by which `at` is past a multiple of COUNT elements in memory.
template <int COUNT, class T>
__device__ __forceinline__ unsigned misalignment(const T* at) {
  return reinterpret_cast<unsigned long long>(at) / sizeof(T) % COUNT;
}

/// Transposes a tile. WHOLE: all of it is inside the matrix; else `width` x `height` are. `first`:
/// no tile above stores the elements before the first multiple of STORE_ALIGN.
template <bool WHOLE, int VEC_X, int VEC_Y, int TILE_X, int TILE_Y, int STORE_ALIGN, int THREADS,
          int LOAD, int STORE, class T>
__device__ __forceinline__ void transpose_tile(int NX, int NY, unsigned width, unsigned height,
                                               bool first, const T* __restrict__ in,
                                               T* __restrict__ out, T* shared) {
  constexpr int PIECE = 16 / sizeof(T);
  using Loading = ThreadMap<TILE_X / VEC_X, THREADS>;
  constexpr int LOADS = TILE_X * TILE_Y / (PIECE * VEC_X * THREADS);
  // Few threads along a row of out, but whole warps: a thread then stores several segments of the
  // same row, for which addresses are computed once. Segments are whole periods of the swizzle.
  constexpr int PERIOD = 8 * PIECE / VEC_Y > 32 ? 8 * PIECE / VEC_Y : 32;
  constexpr int MIN_LANES = THREADS / TILE_X > PERIOD ? THREADS / TILE_X : PERIOD;
  constexpr int LANES = TILE_Y / VEC_Y < MIN_LANES ? TILE_Y / VEC_Y : MIN_LANES;
  constexpr int SEGMENT = LANES * VEC_Y, SEGMENTS = TILE_Y / SEGMENT;
  constexpr int ROWS = TILE_X * LANES / THREADS;
  using Storing = ThreadMap<LANES, THREADS>;
  const unsigned thread = threadIdx.x;

  Vector<T, VEC_X> value[LOADS][PIECE];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const unsigned x = Loading::lane(thread, i) * VEC_X, y = Loading::row(thread, i) * PIECE;
#pragma unroll
    for (int row = 0; row < PIECE; ++row) {
      if (WHOLE || (x < width && y + row < height)) {
        value[i][row] = load<LOAD, VEC_X>(in + static_cast<long long>(y + row) * NX + x);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const unsigned x = Loading::lane(thread, i) * VEC_X, y = Loading::row(thread, i) * PIECE;
    T* const to = shared + swizzled_index<PIECE, VEC_X, TILE_Y>(x, y);
#pragma unroll
    for (int column = 0; column < VEC_X; ++column) {
      Vector<T, PIECE> piece;
#pragma unroll
      for (int row = 0; row < PIECE; ++row) piece.at[row] = value[i][row].at[column];
      *reinterpret_cast<Vector<T, PIECE>*>(to + column * TILE_Y) = piece;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const unsigned x = Storing::row(thread, i), lane = Storing::lane(thread, i) * VEC_Y;
    T* const row = out + static_cast<long long>(x) * NY;
    const unsigned misaligned_by = misalignment<STORE_ALIGN>(row);
    T* const to = row - misaligned_by + lane;
    const unsigned from = swizzled_index<PIECE, VEC_X, TILE_Y>(x, lane - misaligned_by);
    const bool of_tile_above =
        STORE_ALIGN > 1 && lane < STORE_ALIGN && !(first && lane >= misaligned_by);
#pragma unroll
    for (int segment = 0; segment < SEGMENTS; ++segment) {
      const bool exists = WHOLE || (x < width && lane - misaligned_by + segment * SEGMENT < height);
      if (exists && !(segment == 0 && of_tile_above)) {
        store<STORE>(to + segment * SEGMENT, *reinterpret_cast<const Vector<T, VEC_Y>*>(
                                                 shared + (from + segment * SEGMENT)));
      }
    }
  }
}

template <class T, int VEC_X, int VEC_Y, int TILE_X, int TILE_Y, int STORE_ALIGN, int THREADS,
          int LOAD, int STORE, int BAND, bool DIAGONAL, int MIN_BLOCKS>
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose_tiled(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  // In elements.
  constexpr int WIDTH = 4 * TILE_X / sizeof(T), HEIGHT = 4 * TILE_Y / sizeof(T);
  constexpr int ALIGN = STORE_ALIGN > 1 ? 4 * STORE_ALIGN / sizeof(T) : 1;
  static_assert(WIDTH * HEIGHT * sizeof(T) % (16 * VEC_X * THREADS) == 0,
                "every thread loads the same number of groups of rows");
  static_assert(HEIGHT % ALIGN == 0,
                "every tile starts at the same offset from a multiple of STORE_ALIGN");
  constexpr int STEP_Y = ALIGN > 1 ? HEIGHT - ALIGN : HEIGHT;
  extern __shared__ __align__(16) unsigned char bytes[];
  T* const shared = reinterpret_cast<T*>(bytes);

  const Tile tile = tile_of<BAND, DIAGONAL>(blockIdx.x, ceil_div(NX, WIDTH), ceil_div(NY, STEP_Y));
  const int x0 = tile.x * WIDTH, y0 = tile.y * STEP_Y;
  const unsigned width = NX - x0, height = NY - y0;  // from the tile's corner to the edges of in
  in += static_cast<long long>(y0) * NX + x0;
  out += static_cast<long long>(x0) * NY + y0;
  if (width >= WIDTH && height >= HEIGHT) {
    transpose_tile<true, VEC_X, VEC_Y, WIDTH, HEIGHT, ALIGN, THREADS, LOAD, STORE>(
        NX, NY, width, height, y0 == 0, in, out, shared);
  } else {
    transpose_tile<false, VEC_X, VEC_Y, WIDTH, HEIGHT, ALIGN, THREADS, LOAD, STORE>(
        NX, NY, width, height, y0 == 0, in, out, shared);
  }
}
