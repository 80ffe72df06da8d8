// SPDX-License-Identifier: Apache-2.0
// out = in^T as transpose_tiled.cu, for compute capability 9.0 and rows of in that are aligned to
// 16 bytes. One thread prefetches tiles of in by TMA to STAGES stages, in boxes that are 32 floats
// wide. The hardware swizzles the boxes: a row covers all 32 banks, and its 16-byte pieces are
// permuted differently in each row. So 8 threads can read pieces of the same column from 8 rows, or
// of 4 columns from 2 x 4 rows, without bank conflicts. They transpose them in registers and store
// them.
//
// Grid (blocks, each loops over tiles), block (32 * WARPS), dynamic shared memory
// 4 * STAGES * TILE_X * TILE_Y bytes. NX is a multiple of 4, NY of VEC_Y. STORE: see
// common/cached_access.cuh. BAND: see raster.cuh.

#include "common/cached_access.cuh"
#include "common/mbarrier.cuh"
#include "common/tensor_map.cuh"
#include "raster.cuh"

constexpr int BOX_X = 32;  // floats: 128 bytes, the widest swizzle

/// Stores a tile, which is a sequence of boxes of BOX_X columns and TILE_Y rows; `width` x `height`
/// of it are inside the matrix. Called by warp `warp` of WARPS.
template <int VEC_Y, int TILE_X, int TILE_Y, int WARPS, int STORE>
__device__ __forceinline__ void store_tile(const float* boxes, float* out, int NY, int width,
                                           int height, int warp, int lane) {
  constexpr int WARP_X = VEC_Y == 4 ? 16 : 4;  // columns of in per warp and step, of 32 rows
  constexpr int SEGMENTS = TILE_Y / 32;
  constexpr int STEPS = TILE_X / WARP_X * SEGMENTS / WARPS;
  static_assert(STEPS * WARPS == TILE_X / WARP_X * SEGMENTS,
                "every warp stores the same number of elements");
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    const int part = step * WARPS + warp;
    const int x = part / SEGMENTS * WARP_X + (VEC_Y == 4 ? lane % 4 * 4 : 0);
    const int y = part % SEGMENTS * 32 + (VEC_Y == 4 ? lane / 4 * 4 : lane);
    const float* const box = boxes + x / BOX_X * (BOX_X * TILE_Y);
    Floats<4> row[VEC_Y];
#pragma unroll
    for (int j = 0; j < VEC_Y; ++j) {
      const int piece = (x % BOX_X / 4) ^ ((y + j) % 8);
      row[j] = *reinterpret_cast<const Floats<4>*>(box + (y + j) * BOX_X + piece * 4);
    }
#pragma unroll
    for (int column = 0; column < 4; ++column) {
      Floats<VEC_Y> group;
#pragma unroll
      for (int j = 0; j < VEC_Y; ++j) group.at[j] = row[j].at[column];
      if (x + column < width && y < height) {
        store<STORE>(out + static_cast<long long>(x + column) * NY + y, group);
      }
    }
  }
}

template <int VEC_Y, int TILE_X, int TILE_Y, int WARPS, int STAGES, int STORE, int BAND,
          bool DIAGONAL, int MIN_BLOCKS>
__global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    transpose_tma(int NX, int NY, const float*, float* __restrict__ out,
                  const __grid_constant__ TensorMap map) {
  constexpr int STAGE_FLOATS = TILE_X * TILE_Y;
  extern __shared__ __align__(1024) float shared[];
  __shared__ unsigned long long barriers[STAGES];
  const unsigned full = static_cast<unsigned>(__cvta_generic_to_shared(barriers));

  const int thread = threadIdx.x;
  const int tiles_x = ceil_div(NX, TILE_X), tiles_y = ceil_div(NY, TILE_Y);
  const int tiles = tiles_x * tiles_y;
  const int step = gridDim.x;

  const auto fetch = [&](int index, int stage) {
    const Tile tile = tile_of<BAND, DIAGONAL>(index, tiles_x, tiles_y);
    arrive_expecting(full + 8 * stage, 4 * STAGE_FLOATS);
#pragma unroll
    for (int x = 0; x < TILE_X; x += BOX_X) {
      float* const to = shared + stage * STAGE_FLOATS + x * TILE_Y;
      fetch_box(static_cast<unsigned>(__cvta_generic_to_shared(to)), map, tile.x * TILE_X + x,
                tile.y * TILE_Y, full + 8 * stage);
    }
  };
  if (thread == 0) {
    for (int stage = 0; stage < STAGES; ++stage) make_barrier(full + 8 * stage, 1);
    publish_barriers();
    for (int stage = 0; stage < STAGES; ++stage) {
      const int index = blockIdx.x + stage * step;
      if (index < tiles) fetch(index, stage);
    }
  }
  __syncthreads();

  int stage = 0;
  unsigned parity = 0;
  for (int index = blockIdx.x; index < tiles; index += step) {
    const Tile tile = tile_of<BAND, DIAGONAL>(index, tiles_x, tiles_y);
    const int x0 = tile.x * TILE_X, y0 = tile.y * TILE_Y;
    await_barrier(full + 8 * stage, parity);
    store_tile<VEC_Y, TILE_X, TILE_Y, WARPS, STORE>(shared + stage * STAGE_FLOATS,
                                                    out + static_cast<long long>(x0) * NY + y0, NY,
                                                    NX - x0, NY - y0, thread / 32, thread % 32);
    __syncthreads();  // the stage has been read
    if (thread == 0 && index + STAGES * step < tiles) fetch(index + STAGES * step, stage);
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
}
