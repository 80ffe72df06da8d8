// SPDX-License-Identifier: Apache-2.0
// One operand of a product whose k-tiles are loaded into shared memory by TMA.
#pragma once

#include "common/integers.cuh"
#include "common/tensor_map.cuh"
#include "common/vector.cuh"

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

/// Loads the four floats that start OFFSET floats after `from`, which is aligned to 16 bytes.
template <int OFFSET>
__device__ __forceinline__ Floats<4> load_misaligned(const float* from) {
  Floats<4> floats;
  if constexpr (OFFSET == 0) {
    floats = *reinterpret_cast<const Floats<4>*>(from);
  } else if constexpr (OFFSET == 1) {
    const auto begin = *reinterpret_cast<const Floats<4>*>(from);
    floats = {begin.at[1], begin.at[2], begin.at[3], from[4]};
  } else if constexpr (OFFSET == 2) {
    const auto begin = *reinterpret_cast<const Floats<2>*>(from + 2);
    const auto end = *reinterpret_cast<const Floats<2>*>(from + 4);
    floats = {begin.at[0], begin.at[1], end.at[0], end.at[1]};
  } else {
    const auto end = *reinterpret_cast<const Floats<4>*>(from + 4);
    floats = {from[3], end.at[0], end.at[1], end.at[2]};
  }
  return floats;
}

/// The k-tiles of one operand: EXTENT rows of op(A) or columns of op(B), DEPTH deep along K. In a
/// k-tile a row is one step of K.
///
///   TRANSPOSE       the operand is contiguous along K in global memory and must be transposed
///   MISALIGNMENT    remainder of the leading dimension by 4 floats
///   UNALIGNED_BASE  the matrix starts at any float, else on 16 bytes
///   COUNT           elements along the extent per thread
///   LANES           threads of a warp along the extent
///
/// If the operand must be transposed or realigned, boxes are loaded into a staging slot and
/// `transform` writes the k-tile. Else they are loaded into the k-tile, one after the other. The
/// rows of a k-tile that is not transposed are in the order of the boxes: steps 0, 4, 8, …, 1, 5,
/// 9, ….
template <bool TRANSPOSE, int MISALIGNMENT, bool UNALIGNED_BASE, int EXTENT, int DEPTH, int COUNT,
          int LANES>
struct BoxedOperand {
  static constexpr bool MISALIGNED = MISALIGNMENT != 0 || UNALIGNED_BASE;
  static constexpr bool STAGED = TRANSPOSE || MISALIGNED;
  static constexpr int FLOATS = EXTENT * DEPTH;
  static constexpr int BOX_ROWS = (TRANSPOSE ? EXTENT : DEPTH) / BOXES;
  // Rows to be realigned are padded, so that boxes are aligned to 128 bytes and rows to be
  // transposed start in different banks.
  static constexpr int BOX_PITCH = (TRANSPOSE ? DEPTH : EXTENT) + (!MISALIGNED ? 0
                                                                   : TRANSPOSE ? 4
                                                                               : 128 / DEPTH);
  static constexpr int BOX_FLOATS = BOX_ROWS * BOX_PITCH;
  static constexpr int STAGED_FLOATS = STAGED ? BOXES * BOX_FLOATS : 0;
  static constexpr int DIRECT_FLOATS = STAGED ? 0 : FLOATS;
  // Boxes to be transposed are swizzled unless they are padded. Swizzled boxes need 1024-byte
  // alignment.
  static constexpr int BOX_ALIGN = TRANSPOSE && !MISALIGNED ? 256 : 32;  // floats
  static constexpr int GROUP = vector_width<float>(COUNT);
  static_assert(EXTENT % 32 == 0 && (DEPTH == 16 || DEPTH == 32),
                "EXTENT is a multiple of 32, and DEPTH is 16 or 32");

  /// The offset of k steps along K, a multiple of four.
  static __device__ __forceinline__ constexpr int distance(int k) {
    return (TRANSPOSE ? k : k / BOXES) * EXTENT;
  }
  /// Where a thread's part of a k-tile starts: at step k, a multiple of four, for lane `lane` of
  /// LANES that start at `first` along the extent.
  static __device__ __forceinline__ int start(int first, int lane, int k) {
    return distance(k) + first + lane * GROUP;
  }

  /// Reads the elements k steps after `from`, a result of `start`.
  static __device__ __forceinline__ void read(float (&to)[COUNT], const float* from, int k) {
    const int row = TRANSPOSE ? k : k % BOXES * BOX_ROWS + k / BOXES;
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
  static __device__ __forceinline__ void transform(const float* staging, float* k_tile,
                                                   const float* matrix, int thread) {
    if constexpr (!UNALIGNED_BASE) {
      transform_boxes<THREADS, 0>(staging, k_tile, thread);
    } else {
      switch (reinterpret_cast<unsigned long long>(matrix) / sizeof(float) % 4) {
        case 0:
          return transform_boxes<THREADS, 0>(staging, k_tile, thread);
        case 1:
          return transform_boxes<THREADS, 1>(staging, k_tile, thread);
        case 2:
          return transform_boxes<THREADS, 2>(staging, k_tile, thread);
        default:
          return transform_boxes<THREADS, 3>(staging, k_tile, thread);
      }
    }
  }

 private:
  /// BEGIN: floats from a multiple of 16 bytes to the start of the matrix.
  template <int THREADS, int BEGIN>
  static __device__ __forceinline__ void transform_boxes(const float* staging, float* k_tile,
                                                         int thread) {
    if constexpr (TRANSPOSE) {
      transpose<THREADS, BEGIN>(staging, k_tile, thread);
    } else {
      realign<THREADS, BEGIN % 4>(staging, k_tile, thread);
      realign<THREADS, (BEGIN + MISALIGNMENT) % 4>(staging + BOX_FLOATS, k_tile + FLOATS / 4,
                                                   thread);
      realign<THREADS, (BEGIN + 2 * MISALIGNMENT) % 4>(staging + 2 * BOX_FLOATS,
                                                       k_tile + FLOATS / 2, thread);
      realign<THREADS, (BEGIN + 3 * MISALIGNMENT) % 4>(staging + 3 * BOX_FLOATS,
                                                       k_tile + FLOATS / 4 * 3, thread);
    }
  }

  /// Transposes: a thread reads 4 steps of K from the same row of each box; these rows are
  /// neighbours in the matrix. 8 neighbouring threads read 16 bytes each without bank conflicts,
  /// because rows are swizzled or padded, and write 32 contiguous floats.
  template <int THREADS, int BEGIN>
  static __device__ __forceinline__ void transpose(const float* staging, float* k_tile,
                                                   int thread) {
    constexpr int PIECES = DEPTH / 4;               // 16-byte pieces of a staged row
    constexpr int ROWS_PER_128_BYTES = 32 / DEPTH;  // staged rows in 128 bytes
    constexpr int GROUPS_PER_PASS = THREADS / 8 / PIECES;
    constexpr int GROUPS = EXTENT / 32;
    const int row = thread % 8, piece = thread / 8 % PIECES, group = thread / 8 / PIECES;
    const int at = MISALIGNED ? piece : piece ^ (row / ROWS_PER_128_BYTES % PIECES);
    const float* const from = staging + (group * 8 + row) * BOX_PITCH + at * 4;
    float* const to = k_tile + 4 * piece * EXTENT + group * 32 + 4 * row;
#pragma unroll 1
    for (int first = 0; first < GROUPS; first += GROUPS_PER_PASS) {
      if (GROUPS % GROUPS_PER_PASS != 0 && first + group >= GROUPS) break;
      const float* const begin = from + first * 8 * BOX_PITCH;
      const auto a = load_misaligned<BEGIN % 4>(begin);
      const auto b = load_misaligned<(BEGIN + MISALIGNMENT) % 4>(begin + BOX_FLOATS);
      const auto c = load_misaligned<(BEGIN + 2 * MISALIGNMENT) % 4>(begin + 2 * BOX_FLOATS);
      const auto d = load_misaligned<(BEGIN + 3 * MISALIGNMENT) % 4>(begin + 3 * BOX_FLOATS);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Floats<4> step{a.at[k], b.at[k], c.at[k], d.at[k]};
        *reinterpret_cast<Floats<4>*>(to + k * EXTENT + first * 32) = step;
      }
    }
  }

  /// Realigns: copies the rows of a box to rows that start on 16 bytes.
  template <int THREADS, int OFFSET>
  static __device__ __forceinline__ void realign(const float* box, float* rows, int thread) {
    constexpr int PIECES = EXTENT / 4;  // 16-byte pieces of a row
#pragma unroll
    for (int first = 0; first < BOX_ROWS * PIECES; first += THREADS) {
      const int piece = first + thread;
      if (BOX_ROWS * PIECES % THREADS != 0 && piece >= BOX_ROWS * PIECES) break;
      const float* const from = box + piece / PIECES * BOX_PITCH + piece % PIECES * 4;
      *reinterpret_cast<Floats<4>*>(rows + 4 * piece) = load_misaligned<OFFSET>(from);
    }
  }
};
