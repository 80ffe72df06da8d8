// SPDX-License-Identifier: Apache-2.0
// One operand of a product whose slabs a tensor map brings into shared memory.
#pragma once

#include "tensor_map.cuh"
#include "vector.cuh"

/// How many boxes bring in a slab, each with every fourth row of it. Tensor maps want rows that lie
/// a multiple of 16 bytes apart, and every fourth row of floats does, whatever the distance of two.
constexpr int BOXES = 4;

/// A matrix in global memory, of whose slabs one box each is asked for.
struct BoxedMatrix {
  const TensorMap* rows;  ///< every fourth row from number `box` on

  /// Has the box that begins at a row and a column, multiples of four, brought to `to` and counted
  /// at a barrier.
  __device__ __forceinline__ void fetch(float* to, int row, int column, int batch,
                                        unsigned barrier) const {
    fetch_box(static_cast<unsigned>(__cvta_generic_to_shared(to)), *rows, column, row / BOXES,
              batch, barrier);
  }
};

/// Loads the four floats that begin SKEW floats behind `from`, a multiple of 16 bytes.
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

/// The slabs of one operand: EXTENT rows of op(A) or columns of op(B), DEPTH deep along K. Threads
/// compute from slabs whose rows are steps of K. TURN: in global memory neighbours along K are
/// neighbours. Rows of the matrix lie SKEW floats beyond a multiple of 16 bytes apart; ANYWHERE:
/// the first may begin at any float, else on 16 bytes. Where rows are to be turned, or may begin
/// beside 16 bytes, boxes land in a staging slot first, and `settle` makes the slab of it. Else
/// they land in the slab one after the other. A slab that is not turned has its rows as they come:
/// of steps 0, 4, 8, … then 1, 5, 9, …. A thread computes with COUNT elements of the extent, LANES
/// threads side by side.
template <bool TURN, int SKEW, bool ANYWHERE, int EXTENT, int DEPTH, int COUNT, int LANES>
struct BoxedOperand {
  static constexpr bool SKEWED = SKEW != 0 || ANYWHERE;
  static constexpr bool STAGED = TURN || SKEWED;
  static constexpr int FLOATS = EXTENT * DEPTH;
  static constexpr int BOX_ROWS = (TURN ? EXTENT : DEPTH) / BOXES;
  // Skewed rows are longer than what is used of them: so much that boxes begin on 128 bytes and
  // that rows which are turned begin in different banks.
  static constexpr int BOX_PITCH = (TURN ? DEPTH : EXTENT) + (!SKEWED ? 0 : TURN ? 4 : 128 / DEPTH);
  static constexpr int BOX_FLOATS = BOX_ROWS * BOX_PITCH;
  static constexpr int STAGED_FLOATS = STAGED ? BOXES * BOX_FLOATS : 0;
  static constexpr int DIRECT_FLOATS = STAGED ? 0 : FLOATS;
  static constexpr int GROUP = vector_width(COUNT);
  static_assert(EXTENT % 32 == 0 && (DEPTH == 16 || DEPTH == 32), "whole groups of swizzled rows");

  /// How far apart two places are that differ by k along K, a multiple of four.
  static __device__ __forceinline__ constexpr int distance(int k) {
    return (TURN ? k : k / BOXES) * EXTENT;
  }
  /// Where in a slab a thread's part begins: at k along K, a multiple of four, at `first` along the
  /// extent where the LANES begin of which it is number `lane`.
  static __device__ __forceinline__ int start(int first, int lane, int k) {
    return distance(k) + first + lane * GROUP;
  }

  /// Reads the elements k further along K than `from`, a place of `start`.
  static __device__ __forceinline__ void read(float (&to)[COUNT], const float* from, int k) {
    const int row = TURN ? k : k % BOXES * BOX_ROWS + k / BOXES;
#pragma unroll
    for (int i = 0; i < COUNT; i += GROUP) {
      const auto group = *reinterpret_cast<const Floats<GROUP>*>(from + row * EXTENT + i * LANES);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) to[i + g] = group.at[g];
    }
  }

  /// Where a thread's i-th element lies along the extent, from the first of its warp.
  static __device__ __forceinline__ constexpr int offset(int lane, int i) {
    return i / GROUP * (LANES * GROUP) + lane * GROUP + i % GROUP;
  }

  /// Makes a slab of a staging slot, by THREADS threads. `matrix` is where the first row begins.
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
  /// BEGIN: by how many floats the matrix begins behind 16 bytes.
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

  /// A thread takes 4 steps of K of the same row of each box, which are neighbours in the matrix; 8
  /// neighbouring threads read pieces of 16 bytes that lie in different banks, by swizzling or by
  /// the length of rows, and write 32 floats in a row.
  template <int THREADS, int BEGIN>
  static __device__ __forceinline__ void turn(const float* staging, float* slab, int thread) {
    constexpr int PIECES = DEPTH / 4;         // of 16 bytes in a staged row
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

  /// Copies the rows of a box to where they begin on 16 bytes.
  template <int THREADS, int SKEW_OF_BOX>
  static __device__ __forceinline__ void straighten(const float* box, float* rows, int thread) {
    constexpr int PIECES = EXTENT / 4;  // of 16 bytes in a row
#pragma unroll
    for (int first = 0; first < BOX_ROWS * PIECES; first += THREADS) {
      const int piece = first + thread;
      if (BOX_ROWS * PIECES % THREADS != 0 && piece >= BOX_ROWS * PIECES) break;
      const float* const from = box + piece / PIECES * BOX_PITCH + piece % PIECES * 4;
      *reinterpret_cast<Floats<4>*>(rows + 4 * piece) = load_skewed<SKEW_OF_BOX>(from);
    }
  }
};
