// SPDX-License-Identifier: Apache-2.0
// One operand of a product on tensor cores: its k-tiles in shared memory, loaded by TMA.
#pragma once

#include "common/tensor_copy.cuh"
#include "common/wgmma.cuh"

/// K-tiles of EXTENT rows (of the second operand: columns), DEPTH steps of K deep.
///
///   K_MAJOR   the operand is contiguous along K in global memory, else along the extent
///   SHARERS   blocks of a cluster that use the same k-tile; each loads a part of it for all
///   EVICT_FIRST  they leave the L2 cache before others: where each is loaded only once
///
/// A k-tile has panels whose rows are 128 bytes, those of the swizzle. K_MAJOR: a panel has EXTENT
/// rows. Else, of 16-bit elements only, it has DEPTH rows of 64 elements along the extent; the last
/// panel may reach beyond EXTENT.
template <class T, bool K_MAJOR, int EXTENT, int DEPTH, int SHARERS, bool EVICT_FIRST>
struct TensorOperand {
  static constexpr bool IS_K_MAJOR = K_MAJOR;
  static constexpr int TILE = EXTENT, TILE_K = DEPTH, BLOCKS = SHARERS;
  static constexpr int WIDTH = 128 / static_cast<int>(sizeof(T));  // elements of a row of a panel
  static constexpr int PANELS = K_MAJOR ? DEPTH / WIDTH : (EXTENT + WIDTH - 1) / WIDTH;
  static constexpr int PANEL_ROWS = K_MAJOR ? EXTENT : DEPTH;
  static constexpr int PANEL_BYTES = PANEL_ROWS * 128;
  static constexpr int BYTES = PANELS * PANEL_BYTES;
  static constexpr int PART_ROWS = PANEL_ROWS / SHARERS;
  static_assert((K_MAJOR || sizeof(T) == 2) && DEPTH % WIDTH == 0 && PANEL_ROWS % SHARERS == 0 &&
                    PART_ROWS % 8 == 0,
                "a part of a k-tile is whole atoms of the swizzle");

  /// Starts the copies of this block's part of the k-tile at (`row`, `k`).
  static __device__ __forceinline__ void load(unsigned to, const TensorMap3& map, int row, int k,
                                              int batch, unsigned barrier, int part,
                                              unsigned short ranks) {
#pragma unroll
    for (int panel = 0; panel < PANELS; ++panel) {
      const unsigned address = to + panel * PANEL_BYTES + part * (PART_ROWS * 128);
      const int x = (K_MAJOR ? k : row) + panel * WIDTH;
      const int y = (K_MAJOR ? row : k) + part * PART_ROWS;
      if constexpr (SHARERS > 1) {
        copy_box_to_ranks<EVICT_FIRST>(address, map, x, y, batch, barrier, ranks);
      } else {
        copy_box<EVICT_FIRST>(address, map, x, y, batch, barrier);
      }
    }
  }

  /// Describes the first product of the k-tile at `address`, from `row` on, a multiple of 64.
  static __device__ __forceinline__ unsigned long long descriptor(unsigned address, int row) {
    return matrix_descriptor<K_MAJOR>(address + row * (K_MAJOR ? 128 : PANEL_BYTES / WIDTH),
                                      PANEL_BYTES);
  }
  /// From a descriptor to that of step `k`, where a product begins, and `row`, a multiple of 64.
  static __device__ constexpr unsigned long long offset(int row, int k) {
    return descriptor_offset(K_MAJOR ? row * 128 + k / WIDTH * PANEL_BYTES +
                                           k % WIDTH * static_cast<int>(sizeof(T))
                                     : row / WIDTH * PANEL_BYTES + k * 128);
  }
};
