// SPDX-License-Identifier: Apache-2.0
// One operand of a product whose slabs a tensor map brings into shared memory.
#pragma once

#include "vector.cuh"

/// The slabs of one operand: EXTENT rows of op(A) or columns of op(B), DEPTH deep along K. Threads
/// compute from slabs whose rows are steps of K. TURN: in global memory neighbours along K are
/// neighbours; then the box lands in a staging slot first, its rows swizzled, and is transposed
/// from there. A thread computes with COUNT elements of the extent, LANES threads side by side.
template <bool TURN, int EXTENT, int DEPTH, int COUNT, int LANES>
struct BoxedOperand {
  static constexpr int FLOATS = EXTENT * DEPTH;
  static constexpr int STAGED_FLOATS = TURN ? FLOATS : 0;
  static constexpr int DIRECT_FLOATS = TURN ? 0 : FLOATS;
  static constexpr int GROUP = vector_width(COUNT);
  /// How many elements that follow each other in a thread are neighbours in the matrix.
  static constexpr int NEIGHBOURS = TURN ? 1 : GROUP;
  static_assert(!TURN || (EXTENT % 32 == 0 && DEPTH <= 32), "whole groups of swizzled rows");

  /// Where in a slab a thread's part begins: at k along K, at `first` along the extent where the
  /// LANES begin of which it is number `lane`.
  static __device__ __forceinline__ int start(int first, int lane, int k) {
    return k * EXTENT + first + lane * GROUP;
  }
  /// How far apart two places are that differ by k along K.
  static __device__ __forceinline__ constexpr int distance(int k) { return k * EXTENT; }

  /// Reads the elements k further along K than `from`, a place of `start`.
  static __device__ __forceinline__ void read(float (&to)[COUNT], const float* from, int k) {
#pragma unroll
    for (int i = 0; i < COUNT; i += GROUP) {
      const auto group = *reinterpret_cast<const Floats<GROUP>*>(from + k * EXTENT + i * LANES);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) to[i + g] = group.at[g];
    }
  }

  /// Where a thread's i-th element lies along the extent.
  static __device__ __forceinline__ int place(int first, int lane, int i) {
    const int at = first + i / GROUP * (LANES * GROUP) + lane * GROUP + i % GROUP;
    return TURN ? at / 32 * 32 + at % 4 * 8 + at % 32 / 4 : at;
  }

  /// Transposes a staging slot into a slab, by THREADS threads. Of each 32 rows a thread takes four
  /// that are 8 apart, and 4 steps of K: then 8 neighbouring threads read from 8 pieces that lie in
  /// different banks, and write 32 floats in a row. So four floats in a row of the slab are elements
  /// 8 apart, which `place` undoes.
  template <int THREADS>
  static __device__ __forceinline__ void turn(const float* staging, float* slab, int thread) {
    constexpr int PIECES = DEPTH / 4;      // of 16 bytes in a staged row
    constexpr int ROWS_IN_LINE = 32 / DEPTH;  // staged rows in 128 bytes
    constexpr int AT_ONCE = THREADS / 8 / PIECES;
    constexpr int GROUPS = EXTENT / 32;
    const int row = thread % 8, piece = thread / 8 % PIECES, group = thread / 8 / PIECES;
    const int swizzled = piece ^ (row / ROWS_IN_LINE % PIECES);
    const float* const from = staging + (group * 32 + row) * DEPTH + swizzled * 4;
    float* const to = slab + 4 * piece * EXTENT + group * 32 + 4 * row;
#pragma unroll 1
    for (int first = 0; first < GROUPS; first += AT_ONCE) {
      if (GROUPS % AT_ONCE != 0 && first + group >= GROUPS) break;
      Floats<4> rows[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        rows[j] = *reinterpret_cast<const Floats<4>*>(from + (first * 32 + 8 * j) * DEPTH);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Floats<4> step{rows[0].at[k], rows[1].at[k], rows[2].at[k], rows[3].at[k]};
        *reinterpret_cast<Floats<4>*>(to + k * EXTENT + first * 32) = step;
      }
    }
  }
};
