// SPDX-License-Identifier: Apache-2.0
// Operands of mma: k-tiles in shared memory, which threads copy from global memory by cp.async and
// warps load as fragments.
#pragma once

#include "common/async_vector_copy.cuh"
#include "common/integers.cuh"
#include "common/ldmatrix.cuh"
#include "common/operand_type.cuh"

/// A k-tile of an operand: TILE rows (of the second operand: columns) by DEPTH bytes of K. What is
/// contiguous in memory is a line: of K_MAJOR operands a row, else the TILE elements of a step of
/// K. The 16-byte pieces of lines are swizzled, so that neither copies nor loads of fragments have
/// bank conflicts.
template <class T, bool K_MAJOR, int TILE, int DEPTH>
struct MmaOperand {
  using Element = T;
  static constexpr bool IS_K_MAJOR = K_MAJOR;
  static constexpr int SIZE = static_cast<int>(sizeof(T));
  static constexpr int TILE_K = DEPTH / SIZE;
  static constexpr int LINES = K_MAJOR ? TILE : TILE_K;
  static constexpr int LINE_BYTES = K_MAJOR ? DEPTH : TILE * SIZE;
  static constexpr int BYTES = LINES * LINE_BYTES;
  static_assert(DEPTH == 64 || DEPTH == 128);
  static_assert(K_MAJOR || LINE_BYTES % 128 == 0, "the swizzle permutes 128 bytes");

  /// Where a byte of a line is.
  static __device__ __forceinline__ unsigned at(unsigned line, unsigned byte) {
    return line * LINE_BYTES + (byte ^ swizzle(line) << 4);
  }

  /// Which row of 16 a fragment's row is. Fragments of bytes that are not K_MAJOR have two
  /// neighbours where others have the rows i and i + 8: a word of ldmatrix has bytes of both.
  static __device__ constexpr int row_of(int fragment_row) {
    constexpr bool HAS_NEIGHBOURS = !K_MAJOR && SIZE == 1;
    return HAS_NEIGHBOURS ? 2 * (fragment_row % 8) + fragment_row / 8 : fragment_row;
  }

  /// What a lane needs to load fragments of the rows from `first` on: a multiple of 16, where not
  /// K_MAJOR of all rows that the warp loads, a power of two.
  static __device__ __forceinline__ unsigned lane_offset(int first) {
    const unsigned lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    const auto begin = static_cast<unsigned>(first * SIZE);
    if constexpr (K_MAJOR) {
      return at(static_cast<unsigned>(first) + lane % 16, lane / 16 * 16);
    } else if constexpr (SIZE == 4) {
      return at(lane % 4, begin + lane / 4 * 4);
    } else if constexpr (SIZE == 2) {
      return at(matrix / 2 * 8 + row, begin + matrix % 2 * 16);
    } else {  // lines 4 * i and 4 * i + 1 of 16, and the two behind them
      return at(matrix / 2 * 16 + row / 2 * 4 + matrix % 2 * 2 + row % 2, begin);
    }
  }

  /// Loads a fragment, 16 rows by 32 bytes of K: the words are those of the rows of multiply_16x8.
  /// `address`: of the k-tile in shared memory, a multiple of 128, and lane_offset. All lanes of a
  /// warp call it.
  static __device__ __forceinline__ void load(unsigned (&words)[4], unsigned address, int fragment,
                                              int step) {
    if constexpr (K_MAJOR) {
      load_matrices<false>(words, (address ^ step * 32) + fragment * (16 * LINE_BYTES));
    } else {
      constexpr int PIECE = 16 * SIZE;  // bytes of a line
      const unsigned from = (address ^ fragment * PIECE % 128) + fragment * PIECE / 128 * 128 +
                            step * (32 / SIZE * LINE_BYTES);
      if constexpr (SIZE == 4) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          words[i] = load_word((from ^ i % 2 * 32) + i / 2 * (4 * LINE_BYTES));
        }
      } else if constexpr (SIZE == 2) {
        load_matrices<true>(words, from);
      } else {
        unsigned pairs[4];  // of two rows each, for 2 steps of K
        load_matrices<true>(pairs, from);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          words[i] = __byte_perm(pairs[i / 2 * 2], pairs[i / 2 * 2 + 1], i % 2 ? 0x7531 : 0x6420);
        }
      }
    }
  }

 private:
  /// Different in lines that a load takes together and that would be in the same banks.
  static __device__ __forceinline__ unsigned swizzle(unsigned line) {
    if constexpr (K_MAJOR) {
      return DEPTH == 128 ? line % 8 : line / 2 % 4;
    } else {
      return SIZE == 4 ? line % 4 * 2 : SIZE == 2 ? line % 8 : line / 4 % 4 * 2 + line % 2;
    }
  }
};

/// The vectors of VECTOR bytes of each k-tile that a thread of THREADS copies: neighbours copy
/// those that follow one another. Elements outside of the operand become zero.
template <class Operand, int VECTOR, int THREADS>
class MmaSource {
  using T = typename Operand::Element;
  static constexpr int VECTORS = Operand::LINE_BYTES / VECTOR;  // of a line
  static_assert(THREADS % VECTORS == 0, "passes are of whole lines");
  static_assert(VECTOR % Operand::SIZE == 0);
  static constexpr int LINES_OF_PASS = THREADS / VECTORS;

 public:
  static constexpr int PASSES = ceil_div(Operand::LINES, LINES_OF_PASS);

  /// Of an operand with `extent` rows and `depth` steps of K: rows from `first` and steps from
  /// `first_k` on. `pitch`: elements from line to line.
  __device__ __forceinline__ MmaSource(const T* operand, int pitch, int first, int extent,
                                       int first_k, int depth)
      : pitch_(pitch),
        line_(threadIdx.x / VECTORS),
        byte_(threadIdx.x % VECTORS * VECTOR),
        lines_left_((Operand::IS_K_MAJOR ? extent - first : depth - first_k) - line_),
        elements_left_((Operand::IS_K_MAJOR ? depth - first_k : extent - first) -
                       byte_ / Operand::SIZE) {
    const int first_line = Operand::IS_K_MAJOR ? first : first_k;
    const int first_element = Operand::IS_K_MAJOR ? first_k : first;
    from_ = operand + static_cast<long long>(first_line + line_) * pitch + first_element +
            byte_ / Operand::SIZE;
  }

  /// Begins to copy the vector of a pass to the k-tile at a shared memory address.
  __device__ __forceinline__ void copy(VectorCopies& copies, unsigned to, int pass) const {
    constexpr int ELEMENTS = VECTOR / Operand::SIZE;
    const int line = pass * LINES_OF_PASS;
    if (Operand::LINES % LINES_OF_PASS != 0 && line_ + line >= Operand::LINES) return;
    const int count = elements_left_ < 0          ? 0
                      : elements_left_ < ELEMENTS ? elements_left_
                                                  : ELEMENTS;
    copies.template copy<VECTOR>(
        to + Operand::at(static_cast<unsigned>(line_ + line), static_cast<unsigned>(byte_)),
        from_ + static_cast<long long>(line) * pitch_,
        line < lines_left_ ? count * Operand::SIZE : 0);
  }

  /// Goes on to the next k-tile.
  __device__ __forceinline__ void advance() {
    if constexpr (Operand::IS_K_MAJOR) {
      from_ += Operand::TILE_K;
      elements_left_ -= Operand::TILE_K;
    } else {
      from_ += static_cast<long long>(Operand::TILE_K) * pitch_;
      lines_left_ -= Operand::TILE_K;
    }
  }

 private:
  int pitch_;
  int line_, byte_;  // in the k-tile, of the first pass
  int lines_left_, elements_left_;
  const T* from_;
};
