// SPDX-License-Identifier: Apache-2.0
// A block's tile of C: which it is, and what its threads do with their elements of it.
#pragma once

#include "pipeline.cuh"
#include "vector.cuh"

/// Which tile of C a block computes.
struct Tile {
  int m, n;
};

/// Neighbouring blocks take neighbouring tiles: GROUP_M tiles high bands, column by column, so that
/// blocks that run at the same time share rows of A and columns of B in the L2 cache.
template <int GROUP_M>
__device__ __forceinline__ Tile tile_of(int index, int tiles_m, int tiles_n) {
  const int band = index / (GROUP_M * tiles_n);
  const int in_band = index - band * (GROUP_M * tiles_n);
  const int left = tiles_m - band * GROUP_M;
  const int height = left < GROUP_M ? left : GROUP_M;
  return {band * GROUP_M + in_band % height, in_band / height};
}

/// Adds the products of a column of A and a row of B to a thread's elements, there and back from
/// row to row: then every second multiply-add finds an operand in the register cache.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void add_products(float (&sum)[ROWS * COLUMNS], const float (&a)[ROWS],
                                             const float (&b)[COLUMNS]) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int turn = 0; turn < COLUMNS; ++turn) {
      const int j = i % 2 == 0 ? turn : COLUMNS - 1 - turn;
      sum[i * COLUMNS + j] += a[i] * b[j];
    }
  }
}

/// Adds up what GROUPS groups of THREADS threads each have of the same tile, in `shared` memory
/// that is free by now. True in the group that has the sum. OTHERS threads of the block are gone.
template <int GROUPS, int THREADS, int OTHERS, int COUNT>
__device__ __forceinline__ bool sum_of_groups(float (&sum)[COUNT], float* shared, int group,
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

/// A matrix that results go to.
struct Target {
  float* first;
  int rows, columns;
  int pitch;  ///< floats from a row to the next
};

/// Stores alpha * sum + beta * C. `row_of(i)` and `column_of(j)` are where the thread's rows and
/// columns lie; each WIDE columns from a multiple of WIDE on are neighbours, and are stored at once
/// where they all exist.
template <int ROWS, int COLUMNS, int WIDE, class RowOf, class ColumnOf>
__device__ __forceinline__ void store_tile(const float (&sum)[ROWS * COLUMNS], const Target& c,
                                           float alpha, float beta, const RowOf& row_of,
                                           const ColumnOf& column_of) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int row = row_of(i);
    if (row >= c.rows) continue;
#pragma unroll
    for (int j = 0; j < COLUMNS; j += WIDE) {
      const int column = column_of(j);
      float* const at = c.first + static_cast<long long>(row) * c.pitch + column;
      if (column + WIDE <= c.columns) {
        Floats<WIDE> result;
#pragma unroll
        for (int w = 0; w < WIDE; ++w) result.at[w] = alpha * sum[i * COLUMNS + j + w];
        if (beta != 0.0f) {
          const auto old = *reinterpret_cast<const Floats<WIDE>*>(at);
#pragma unroll
          for (int w = 0; w < WIDE; ++w) result.at[w] += beta * old.at[w];
        }
        *reinterpret_cast<Floats<WIDE>*>(at) = result;
      } else {
#pragma unroll
        for (int w = 0; w < WIDE; ++w) {
          if (column + w >= c.columns) break;
          const float product = alpha * sum[i * COLUMNS + j + w];
          at[w] = beta == 0.0f ? product : product + beta * at[w];
        }
      }
    }
  }
}

/// As store_tile, for the THREAD_M x THREAD_N elements of each thread of a warp, by way of shared
/// memory: there neighbours of a row are stored by neighbouring threads, wherever the row begins.
/// `staging` is this warp's own LANES_M rows of its columns; `row_of(i, lane_m)` is where row i of
/// the threads of number lane_m along M lies, `first_column` the warp's first. OPERAND_B says which
/// columns a thread has.
template <class OPERAND_B, int THREAD_M, int THREAD_N, int LANES_M, class RowOf>
__device__ __forceinline__ void store_staged_tile(const float (&sum)[THREAD_M * THREAD_N],
                                                  float* staging, int lane, const Target& c,
                                                  float alpha, float beta, const RowOf& row_of,
                                                  int first_column) {
  constexpr int LANES_N = 32 / LANES_M;
  constexpr int WIDTH = LANES_N * THREAD_N;
  constexpr int GROUP = OPERAND_B::GROUP;
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i) {
    __syncwarp();
#pragma unroll
    for (int j = 0; j < THREAD_N; j += GROUP) {
      Floats<GROUP> neighbours;
#pragma unroll
      for (int g = 0; g < GROUP; ++g) neighbours.at[g] = alpha * sum[i * THREAD_N + j + g];
      float* const at = staging + lane / LANES_N * WIDTH + OPERAND_B::offset(lane % LANES_N, j);
      *reinterpret_cast<Floats<GROUP>*>(at) = neighbours;
    }
    __syncwarp();
#pragma unroll
    for (int part = 0; part < THREAD_N; ++part) {
      const int element = part * 32 + lane;
      const int row = row_of(i, element / WIDTH);
      const int column = first_column + element % WIDTH;
      if (row >= c.rows || column >= c.columns) continue;
      float* const at = c.first + static_cast<long long>(row) * c.pitch + column;
      const float product = staging[element];
      *at = beta == 0.0f ? product : product + beta * *at;
    }
  }
}
