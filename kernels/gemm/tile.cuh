// SPDX-License-Identifier: Apache-2.0
// A block's tile of C: raster order, multiply-add, sum over groups of warps, epilogue.
#pragma once

#include "common/integers.cuh"
#include "common/vector.cuh"
#include "pipeline.cuh"

/// The indices of a tile of C.
struct Tile {
  int m, n;
};

/// Raster order: consecutive blocks traverse bands of GROUP_M rows of tiles, column by column, so
/// that concurrent blocks share rows of A and columns of B in the L2 cache.
template <int GROUP_M>
__device__ __forceinline__ Tile tile_of(int index, int tiles_m, int tiles_n) {
  const int band = index / (GROUP_M * tiles_n);
  const int in_band = index - band * (GROUP_M * tiles_n);
  const int left = tiles_m - band * GROUP_M;
  const int height = left < GROUP_M ? left : GROUP_M;
  return {band * GROUP_M + in_band % height, in_band / height};
}

/// Adds the outer product of a column of A and a row of B to a thread's elements. The direction
/// alternates from row to row, so that more operands come from the register reuse cache.
template <int ROWS, int COLUMNS, class Sum, class T>
__device__ __forceinline__ void add_products(Sum (&sum)[ROWS * COLUMNS], const T (&a)[ROWS],
                                             const T (&b)[COLUMNS]) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int step = 0; step < COLUMNS; ++step) {
      const int j = i % 2 == 0 ? step : COLUMNS - 1 - step;
      sum[i * COLUMNS + j] += Sum(a[i]) * Sum(b[j]);
    }
  }
}

/// Sums the tiles of GROUPS groups of THREADS threads through `shared` memory, which is no longer
/// used otherwise. Returns true in the group that has the result. The OTHERS threads of the block
/// do not call this.
template <int GROUPS, int THREADS, int OTHERS, class Sum, int COUNT>
__device__ __forceinline__ bool reduce_groups(Sum (&sum)[COUNT], Sum* shared, int group,
                                              int thread) {
#pragma unroll 1
  for (int other = 1; other < GROUPS; ++other) {
    sync_threads<GROUPS * THREADS, OTHERS>();
    if (group == other) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) shared[i * THREADS + thread] = sum[i];
    }
    sync_threads<GROUPS * THREADS, OTHERS>();
    if (group == 0) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) sum[i] += shared[i * THREADS + thread];
    }
  }
  return group == 0;
}

/// The output matrix.
template <class Result>
struct OutputMatrix {
  Result* first;
  int rows, columns;
  int pitch;  ///< leading dimension, in elements
};

/// Epilogue: stores alpha * sum + beta * C, rounded once. `row_of(i)` and `column_of(j)` are the
/// rows and columns of the thread's elements. Each aligned group of WIDE columns is contiguous in C
/// and is stored by one instruction if it is inside the matrix.
template <int ROWS, int COLUMNS, int WIDE, class Sum, class Result, class RowOf, class ColumnOf>
__device__ __forceinline__ void store_tile(const Sum (&sum)[ROWS * COLUMNS],
                                           const OutputMatrix<Result>& c, Sum alpha, Sum beta,
                                           const RowOf& row_of, const ColumnOf& column_of) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int row = row_of(i);
    if (row >= c.rows) continue;
#pragma unroll
    for (int j = 0; j < COLUMNS; j += WIDE) {
      const int column = column_of(j);
      Result* const at = c.first + static_cast<long long>(row) * c.pitch + column;
      if (column + WIDE <= c.columns) {
        Vector<Sum, WIDE> result;
#pragma unroll
        for (int w = 0; w < WIDE; ++w) result.at[w] = alpha * sum[i * COLUMNS + j + w];
        if (beta != 0) {
          const auto old = *reinterpret_cast<const Vector<Result, WIDE>*>(at);
#pragma unroll
          for (int w = 0; w < WIDE; ++w) result.at[w] += beta * Sum(old.at[w]);
        }
        store_rounded(at, result);
      } else {
#pragma unroll
        for (int w = 0; w < WIDE; ++w) {
          if (column + w >= c.columns) break;
          const Sum product = alpha * sum[i * COLUMNS + j + w];
          at[w] = Result(beta == 0 ? product : product + beta * Sum(at[w]));
        }
      }
    }
  }
}

/// As store_tile, for the THREAD_M x THREAD_N elements of each thread of a warp, through shared
/// memory, so that neighbouring threads store neighbouring elements of a row at any alignment.
/// `staging` is the warp's own: LANES_M rows of its columns. `row_of(i, lane_m)` is row i of the
/// threads with index lane_m along M, `first_column` the warp's first column. OPERAND_B gives the
/// columns of a thread.
template <class OPERAND_B, int THREAD_M, int THREAD_N, int LANES_M, class Sum, class Result,
          class RowOf>
__device__ __forceinline__ void store_staged_tile(const Sum (&sum)[THREAD_M * THREAD_N],
                                                  Sum* staging, int lane,
                                                  const OutputMatrix<Result>& c, Sum alpha,
                                                  Sum beta, const RowOf& row_of, int first_column) {
  constexpr int LANES_N = 32 / LANES_M;
  constexpr int WIDTH = LANES_N * THREAD_N;
  constexpr int GROUP = OPERAND_B::GROUP;
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i) {
    __syncwarp();
#pragma unroll
    for (int j = 0; j < THREAD_N; j += GROUP) {
      Vector<Sum, GROUP> neighbours;
#pragma unroll
      for (int g = 0; g < GROUP; ++g) neighbours.at[g] = alpha * sum[i * THREAD_N + j + g];
      Sum* const at = staging + lane / LANES_N * WIDTH + OPERAND_B::offset(lane % LANES_N, j);
      *reinterpret_cast<Vector<Sum, GROUP>*>(at) = neighbours;
    }
    __syncwarp();
#pragma unroll
    for (int part = 0; part < THREAD_N; ++part) {
      const int element = part * 32 + lane;
      const int row = row_of(i, element / WIDTH);
      const int column = first_column + element % WIDTH;
      if (row >= c.rows || column >= c.columns) continue;
      Result* const at = c.first + static_cast<long long>(row) * c.pitch + column;
      const Sum product = staging[element];
      *at = Result(beta == 0 ? product : product + beta * Sum(*at));
    }
  }
}
