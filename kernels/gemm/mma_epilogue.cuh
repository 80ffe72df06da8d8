// SPDX-License-Identifier: Apache-2.0
// The end of a product by mma: C from the sums in a warp's fragments.
#pragma once

#include "common/shared_memory.cuh"
#include "common/vector.cuh"
#include "epilogue.cuh"

/// The matrix that a product is stored to. S: the type of sums and factors; VECTOR: elements of C
/// that are aligned together; What: the Epilogue.
template <class T, class S, int VECTOR, int BIAS, int ACTIVATION, bool RESIDUAL>
struct MmaOutput {
  using What = Epilogue<T, BIAS, ACTIVATION, RESIDUAL>;
  static constexpr int WIDTH = VECTOR;

  T* first;
  int rows, columns, pitch;
  S alpha, beta;
  const T* bias;
  const T* residual;  ///< of the same product as `first`

  /// Stores WIDTH elements of a row, of neighbouring columns: those that lie in C. WIDTH divides
  /// VECTOR and `column`.
  template <int WIDTH>
  __device__ __forceinline__ void store(const S (&sums)[WIDTH], int row, int column) const {
    static_assert(VECTOR % WIDTH == 0);
    if (row >= rows || column >= columns) return;
    const long long offset = static_cast<long long>(row) * pitch + column;
    if (WIDTH == 1 || column + WIDTH <= columns) {
      store_whole(sums, row, column, offset);
    } else {
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        if (column + i < columns) store_whole<1>({sums[i]}, row, column + i, offset + i);
      }
    }
  }

 private:
  template <int WIDTH>
  static __device__ __forceinline__ Vector<T, WIDTH> load(const T* from) {
    return *reinterpret_cast<const Vector<T, WIDTH>*>(from);
  }
  template <int WIDTH>
  __device__ __forceinline__ void store_whole(const S (&sums)[WIDTH], int row, int column,
                                              long long offset) const {
    S value[WIDTH];
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) value[i] = alpha * sums[i];
    if (beta != S(0)) {
      const Vector<T, WIDTH> before = load<WIDTH>(first + offset);
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) value[i] += beta * static_cast<S>(before.at[i]);
    }
    if constexpr (!What::IS_NONE) {
      const What what{bias, residual};  // of any alignment
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        value[i] = what.apply(value[i], row, column + i, offset + i);
      }
    }
    Vector<T, WIDTH> rounded;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) rounded.at[i] = static_cast<T>(value[i]);
    *reinterpret_cast<Vector<T, WIDTH>*>(first + offset) = rounded;
  }
};

/// The part of a tile of C that a warp has: WARP_M by WARP_N, in fragments of 16 rows and 8
/// columns. First and Second: the operands.
template <class First, class Second, int WARP_M, int WARP_N>
struct MmaWarpTile {
  static constexpr int ROWS = WARP_M, COLUMNS = WARP_N;
  static constexpr int FRAGMENTS_M = WARP_M / 16, FRAGMENTS_N = WARP_N / 8;
  /// Sums 0 and 1 of a fragment are neighbours in a row, and 2 and 3.
  static constexpr bool HAS_PAIRS = Second::row_of(1) == 1;

  /// In the tile: the row and column of sum `i` of fragment (m, n) of a lane.
  static __device__ __forceinline__ int row(int lane, int m, int i) {
    return 16 * m + First::row_of(lane / 4 + i / 2 * 8);
  }
  static __device__ __forceinline__ int column(int lane, int n, int i) {
    return n / 2 * 16 + Second::row_of(n % 2 * 8 + lane % 4 * 2 + i % 2);
  }

  // 16 rows of sums in shared memory. Rows of a fragment's lanes begin in different banks.
  static constexpr int PITCH = WARP_N + 8;
  static constexpr int STAGED = 16 * PITCH;  ///< sums that store() needs memory for

  /// Stores the tile, whose first element is in this row and column of C: 16 rows after the other
  /// through shared memory of this warp alone, so that a row is stored by neighbouring lanes.
  template <class S, class Output>
  static __device__ __forceinline__ void store(const S (&sum)[FRAGMENTS_M][FRAGMENTS_N][4],
                                               const Output& c, int first_row, int first_column,
                                               S* staged) {
    constexpr int WIDTH = Output::WIDTH;
    constexpr int VECTORS = WARP_N / WIDTH;  // of a row
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int m = 0; m < FRAGMENTS_M; ++m) {
#pragma unroll
      for (int n = 0; n < FRAGMENTS_N; ++n) {
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
          S* const to = staged + row(lane, 0, i) * PITCH;
          const S(&at)[4] = sum[m][n];
          if constexpr (HAS_PAIRS) {
            *reinterpret_cast<Vector<S, 2>*>(to + column(lane, n, i)) = {{at[i], at[i + 1]}};
          } else {
            to[column(lane, n, i)] = at[i];
            to[column(lane, n, i + 1)] = at[i + 1];
          }
        }
      }
      __syncwarp();
#pragma unroll
      for (int number = lane; number < 16 * VECTORS; number += 32) {
        const int row = number / VECTORS, column = number % VECTORS * WIDTH;
        constexpr int LOADED = WIDTH < 4 ? WIDTH : 4;
        alignas(16) S values[WIDTH];
#pragma unroll
        for (int i = 0; i < WIDTH; i += LOADED) {
          *reinterpret_cast<Vector<S, LOADED>*>(values + i) =
              *reinterpret_cast<const Vector<S, LOADED>*>(staged + row * PITCH + column + i);
        }
        c.store(values, first_row + 16 * m + row, first_column + column);
      }
      __syncwarp();
    }
  }
};

/// Stores totals of a tile's sums by their numbers, as SplitSums gives them: 4 of a fragment of
/// every thread at a time. Part: the MmaWarpTile of one of THREADS / 32 warps, WARPS_N side by
/// side.
template <class Part, int THREADS, int WARPS_N, class Output>
struct StoreSplitTotals {
  const Output& c;
  int first_row, first_column;  ///< of the tile

  /// `number`: of the first, even.
  template <class S, int N>
  __device__ __forceinline__ void operator()(const S (&total)[N], int number) const {
    const int fragment = number / (4 * THREADS), thread = number / 4 % THREADS;
    const int m = fragment / Part::FRAGMENTS_N, n = fragment % Part::FRAGMENTS_N;
    const int row = first_row + thread / 32 / WARPS_N * Part::ROWS;
    const int column = first_column + thread / 32 % WARPS_N * Part::COLUMNS;
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const int of_row = row + Part::row(thread % 32, m, number % 4 + i);
      if constexpr (Part::HAS_PAIRS && Output::WIDTH >= 2) {
        c.template store<2>({total[i], total[i + 1]}, of_row,
                            column + Part::column(thread % 32, n, 0));
      } else {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          c.template store<1>({total[i + j]}, of_row, column + Part::column(thread % 32, n, j));
        }
      }
    }
  }
};
