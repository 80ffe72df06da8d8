// SPDX-License-Identifier: Apache-2.0
// One operand of a product whose k-tiles are loaded into shared memory by TMA.
#pragma once

#include "tensor_map.cuh"
#include "vector.cuh"

/// Boxes per k-tile, each with every fourth row. A tensor map needs row strides that are a multiple
/// of 16 bytes; every fourth row of floats has such a stride at any leading dimension.
constexpr int BOXES = 4;

/// A matrix in global memory, of which one box per k-tile is loaded.
struct BoxedMatrix {
  const TensorMap* rows;  ///< tensor map of every fourth row, starting at row `box`

  /// Starts the copy of the box at (row, column), multiples of four, to `to`; its bytes complete at
  /// `barrier`.
  __device__ __forceinline__ void fetch(float* to, int row, int column, int batch,
                                        unsigned barrier) const {
    fetch_box(static_cast<unsigned>(__cvta_generic_to_shared(to)), *rows, column, row / BOXES,
              batch, barrier);
  }
};

/// Loads the four floats that start SKEW floats after `from`, which is aligned to 16 bytes.
template <int SKEW>
__device__ __forceinline__ Floats<4> load_skewed(const float* from) {
  Floats<4> floats;
  if constexpr (SKEW == 0) {
    floats = *reinterpret_cast<const Floats<4>*>(from);
  } else if constexpr (SKEW == 1) {
    const auto begin = *reinterpret_cast<const Floats<4>*>(from);
    floats = {begin.at[1], begin.at[2], begin.at[3], from[4]};
  } else if constexpr (SKEW == 2) {
    const auto begin = *reinterpret_cast<const Floats<2>*>(from + 2);
    const auto end = *reinterpret_cast<const Floats<2>*>(from + 4);
    floats = {begin.at[0], begin.at[1], end.at[0], end.at[1]};
  } else {
    const auto end = *reinterpret_cast<const Floats<4>*>(from + 4);
    floats = {from[3], end.at[0], end.at[1], end.at[2]};
  }
  return floats;
}

/// The k-tiles ("slab" in names) of one operand: EXTENT rows of op(A) or columns of op(B), DEPTH
/// deep along K. In a k-tile a row is one step of K.
///
///   TURN      the operand is contiguous along K in global memory and must be transposed
///   SKEW      remainder of the leading dimension by 4 floats
///   ANYWHERE  the matrix starts at any float, else on 16 bytes
///   COUNT     elements along the extent per thread
///   LANES     threads of a warp along the extent
///
/// If the operand must be transposed or realigned, boxes are loaded into a staging slot and
/// `settle` writes the k-tile. Else they are loaded into the k-tile, one after the other. The rows
/// of a k-tile that is not transposed are in the order of the boxes: steps 0, 4, 8, …, 1, 5, 9, ….
template <bool TURN, int SKEW, bool ANYWHERE, int EXTENT, int DEPTH, int COUNT, int LANES>
struct BoxedOperand {
  static constexpr bool SKEWED = SKEW != 0 || ANYWHERE;
  static constexpr bool STAGED = TURN || SKEWED;
  static constexpr int FLOATS = EXTENT * DEPTH;
  static constexpr int BOX_ROWS = (TURN ? EXTENT : DEPTH) / BOXES;
  // Rows to be realigned are padded, so that boxes are aligned to 128 bytes and rows to be
  // transposed start in different banks.
  static constexpr int BOX_PITCH = (TURN ? DEPTH : EXTENT) + (!SKEWED ? 0 : TURN ? 4 : 128 / DEPTH);
  static constexpr int BOX_FLOATS = BOX_ROWS * BOX_PITCH;
  static constexpr int STAGED_FLOATS = STAGED ? BOXES * BOX_FLOATS : 0;
  static constexpr int DIRECT_FLOATS = STAGED ? 0 : FLOATS;
  // Boxes of a staging slot are swizzled, which needs 1024-byte alignment, if they are not padded.
  static constexpr int BOX_ALIGN = TURN && !SKEWED ? 256 : 32;  // floats
  static constexpr int GROUP = vector_width(COUNT);
  static_assert(EXTENT % 32 == 0 && (DEPTH == 16 || DEPTH == 32), "whole groups of swizzled rows");

  /// The offset of k steps along K, a multiple of four.
  static __device__ __forceinline__ constexpr int distance(int k) {
    return (TURN ? k : k / BOXES) * EXTENT;
  }
  /// Where a thread's part of a k-tile starts: at step k, a multiple of four, for lane `lane` of
  /// LANES that start at `first` along the extent.
  static __device__ __forceinline__ int start(int first, int lane, int k) {
    return distance(k) + first + lane * GROUP;
  }

  /// Reads the elements k steps after `from`, a result of `start`.
  static __device__ __forceinline__ void read(float (&to)[COUNT], const float* from, int k) {
    const int row = TURN ? k : k % BOXES * BOX_ROWS + k / BOXES;
#pragma unroll
    for (int i = 0; i < COUNT; i += GROUP) {
      const auto group = *reinterpret_cast<const Floats<GROUP>*>(from + row * EXTENT + i * LANES);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) to[i + g] = group.at[g];
    }
  }

  /// The position along the extent of a thread's i-th element, relative to its warp's first.
  static __device__ __forceinline__ constexpr int offset(int lane, int i) {
    return i / GROUP * (LANES * GROUP) + lane * GROUP + i % GROUP;
  }

  /// Transposes or realigns a staging slot into a k-tile, by THREADS threads. The alignment of
  /// `matrix`, the first element in global memory, selects the variant.
  template <int THREADS>
  static __device__ __forceinline__ void settle(const float* staging, float* slab,
                                                const float* matrix, int thread) {
    if constexpr (!ANYWHERE) {
      settle_boxes<THREADS, 0>(staging, slab, thread);
    } else {
      switch (reinterpret_cast<unsigned long long>(matrix) / sizeof(float) % 4) {
        case 0:
          return settle_boxes<THREADS, 0>(staging, slab, thread);
        case 1:
          return settle_boxes<THREADS, 1>(staging, slab, thread);
        case 2:
          return settle_boxes<THREADS, 2>(staging, slab, thread);
        default:
          return settle_boxes<THREADS, 3>(staging, slab, thread);
      }
    }
  }

 private:
  /// BEGIN: floats from a multiple of 16 bytes to the start of the matrix.
  template <int THREADS, int BEGIN>
  static __device__ __forceinline__ void settle_boxes(const float* staging, float* slab,
                                                      int thread) {
    if constexpr (TURN) {
      turn<THREADS, BEGIN>(staging, slab, thread);
    } else {
      straighten<THREADS, BEGIN % 4>(staging, slab, thread);
      straighten<THREADS, (BEGIN + SKEW) % 4>(staging + BOX_FLOATS, slab + FLOATS / 4, thread);
      straighten<THREADS, (BEGIN + 2 * SKEW) % 4>(staging + 2 * BOX_FLOATS, slab + FLOATS / 2,
                                                  thread);
      straighten<THREADS, (BEGIN + 3 * SKEW) % 4>(staging + 3 * BOX_FLOATS, slab + FLOATS / 4 * 3,
                                                  thread);
    }
  }

  /// Transposes: a thread reads 4 steps of K from the same row of each box; these rows are
  /// neighbours in the matrix. 8 neighbouring threads read 16 bytes each without bank conflicts,
  /// because rows are swizzled or padded, and write 32 contiguous floats.
  template <int THREADS, int BEGIN>
  static __device__ __forceinline__ void turn(const float* staging, float* slab, int thread) {
    constexpr int PIECES = DEPTH / 4;         // 16-byte pieces of a staged row
    constexpr int ROWS_IN_LINE = 32 / DEPTH;  // staged rows in 128 bytes
    constexpr int AT_ONCE = THREADS / 8 / PIECES;
    constexpr int GROUPS = EXTENT / 32;
    const int row = thread % 8, piece = thread / 8 % PIECES, group = thread / 8 / PIECES;
    const int at = SKEWED ? piece : piece ^ (row / ROWS_IN_LINE % PIECES);
    const float* const from = staging + (group * 8 + row) * BOX_PITCH + at * 4;
    float* const to = slab + 4 * piece * EXTENT + group * 32 + 4 * row;
#pragma unroll 1
    for (int first = 0; first < GROUPS; first += AT_ONCE) {
      if (GROUPS % AT_ONCE != 0 && first + group >= GROUPS) break;
      const float* const begin = from + first * 8 * BOX_PITCH;
      const auto a = load_skewed<BEGIN % 4>(begin);
      const auto b = load_skewed<(BEGIN + SKEW) % 4>(begin + BOX_FLOATS);
      const auto c = load_skewed<(BEGIN + 2 * SKEW) % 4>(begin + 2 * BOX_FLOATS);
      const auto d = load_skewed<(BEGIN + 3 * SKEW) % 4>(begin + 3 * BOX_FLOATS);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Floats<4> step{a.at[k], b.at[k], c.at[k], d.at[k]};
        *reinterpret_cast<Floats<4>*>(to + k * EXTENT + first * 32) = step;
      }
    }
  }

  /// Realigns: copies the rows of a box to rows that start on 16 bytes.
  template <int THREADS, int SKEW_OF_BOX>
  static __device__ __forceinline__ void straighten(const float* box, float* rows, int thread) {
    constexpr int PIECES = EXTENT / 4;  // 16-byte pieces of a row
#pragma unroll
    for (int first = 0; first < BOX_ROWS * PIECES; first += THREADS) {
      const int piece = first + thread;
      if (BOX_ROWS * PIECES % THREADS != 0 && piece >= BOX_ROWS * PIECES) break;
      const float* const from = box + piece / PIECES * BOX_PITCH + piece % PIECES * 4;
      *reinterpret_cast<Floats<4>*>(rows + 4 * piece) = load_skewed<SKEW_OF_BOX>(from);
    }
  }
};
