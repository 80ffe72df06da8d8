// SPDX-License-Identifier: Apache-2.0
// C = f(alpha * op(A) * op(B) + beta * C + bias + residual), row-major, on the tensor cores of
// compute capability 8.0 and newer: operands of bf16, f16, tf32, int8 and, from 8.9 on, e4m3 in
// every layout and at every alignment; sums in single precision, of int8 in 32-bit integers.
//
// All threads copy k-tiles into a ring of STAGES stages by cp.async. Warps, WARPS_M by WARPS_N,
// have a part of the tile each: they load fragments of it by ldmatrix and multiply them by mma.
// With FRAGMENTS == 2 those of the next step are loaded before the present ones are multiplied.
//
// Copies are as wide as rows of A and B are aligned: VECTOR_A and VECTOR_B are 16, 8 or 4 bytes, or
// an element, which is copied without cp.async. VECTOR_C: elements of C that are aligned together.
//
// A block computes one tile, with SPLIT_K a part of its depth, or with STREAM_K (stream-K) whole
// tiles and parts of them, one after the other.
//
// Tensor cores add products of e4m3 with about 14 bits. With PROMOTED those of each mma, 32, are
// added to others in single precision.
//
// Grid (blocks), block (32 * WARPS_M * WARPS_N), dynamic shared memory: the larger of the ring and
// the sums that warps stage. Any M, N, K. As in BLAS, alpha == 0 reads neither A nor B, and
// beta == 0 does not read C.
//
// Template parameters: the space file. Design: docs/reference/kernels.md.

#include "common/dependent_launch.cuh"
#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/mma_types.cuh"
#include "common/shared_memory.cuh"
#include "mma_epilogue.cuh"
#include "mma_operand.cuh"
#include "split_sums.cuh"
#include "tensor_work.cuh"

template <class T, class TC, bool TRANS_A, bool TRANS_B, int TILE_M, int TILE_N, int DEPTH,
          int WARPS_M, int WARPS_N, int STAGES, int FRAGMENTS, bool SPLIT_K, bool STREAM_K,
          int VECTOR_A, int VECTOR_B, int VECTOR_C, int MIN_BLOCKS, bool PROMOTED, int BIAS,
          int ACTIVATION, bool RESIDUAL>
__global__ void __launch_bounds__(32 * WARPS_M * WARPS_N, MIN_BLOCKS)
    gemm_mma(int M, int N, int K, Sum<T> alpha, const T* A, int lda, const T* B, int ldb,
             Sum<T> beta, TC* C, int ldc, long long stride_a, long long stride_b,
             long long stride_c, const TC* bias, const TC* residual, int batches, int splits,
             int streamed, int group_m, Sum<T>* partials, unsigned* arrivals) {
  using S = Sum<T>;
  using Rows = MmaOperand<T, !TRANS_A, TILE_M, DEPTH>;
  using Columns = MmaOperand<T, TRANS_B, TILE_N, DEPTH>;
  constexpr int THREADS = 32 * WARPS_M * WARPS_N;
  constexpr int TILE_K = Rows::TILE_K;
  constexpr int STEPS = DEPTH / 32;  // of a k-tile
  constexpr int STAGE_BYTES = Rows::BYTES + Columns::BYTES;
  constexpr int WARP_M = TILE_M / WARPS_M, WARP_N = TILE_N / WARPS_N;
  static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0 && STAGES >= 2 && FRAGMENTS <= 2);
  using Part = MmaWarpTile<Rows, Columns, WARP_M, WARP_N>;

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_m = warp / WARPS_N * WARP_M, warp_n = warp % WARPS_N * WARP_N;  // in the tile
  const unsigned stages = shared_address(dynamic_shared());
  const unsigned rows_at = stages + Rows::lane_offset(warp_m);
  const unsigned columns_at = stages + Rows::BYTES + Columns::lane_offset(warp_n);
  const int depth = alpha == S(0) ? 0 : K;  // of what is read

  // Fragments of one step: 32 bytes of K. Those of columns have two times 8.
  struct Fragments {
    unsigned rows[WARP_M / 16][4], columns[WARP_N / 16][4];
  };
  const auto load = [&](Fragments& fragments, int stage, int step) {
    const auto offset = static_cast<unsigned>(stage * STAGE_BYTES);
#pragma unroll
    for (int m = 0; m < WARP_M / 16; ++m) {
      Rows::load(fragments.rows[m], rows_at + offset, m, step);
    }
#pragma unroll
    for (int n = 0; n < WARP_N / 16; ++n) {
      Columns::load(fragments.columns[n], columns_at + offset, n, step);
    }
  };
  using Sums = S[Part::FRAGMENTS_M][Part::FRAGMENTS_N][4];
  const auto multiply = [](Sums& sum, const Fragments& fragments) {
#pragma unroll
    for (int m = 0; m < Part::FRAGMENTS_M; ++m) {
#pragma unroll
      for (int i = 0; i < Part::FRAGMENTS_N; ++i) {
        const int n = m % 2 == 0 ? i : Part::FRAGMENTS_N - 1 - i;  // columns are used twice in turn
        const unsigned(&words)[4] = fragments.columns[n / 2];
        const unsigned columns[2] = {words[n % 2], words[n % 2 + 2]};
        if constexpr (PROMOTED) {
          S products[4] = {};
          multiply_any_16x8<T>(products, fragments.rows[m], columns);
#pragma unroll
          for (int at = 0; at < 4; ++at) sum[m][n][at] += products[at];
        } else {
          multiply_any_16x8<T>(sum[m][n], fragments.rows[m], columns);
        }
      }
    }
  };

  // The sums of a thread, to be added to those of other splits.
  using Splits = SplitSums<S, 4, Part::FRAGMENTS_M * Part::FRAGMENTS_N, THREADS>;
  __shared__ unsigned flags[2];
  const auto splits_of = [&](const TensorWork& work) {
    const int words = SplitProgress::COUNTERS + ceil_div(splits, 32);
    return Splits{partials,
                  Splits::SIZE,
                  {arrivals + static_cast<long long>(work.tile) * words, work.splits,
                   Splits::slices(work.splits)},
                  flags};
  };

  const TensorSchedule schedule{ceil_div(M, TILE_M),  ceil_div(N, TILE_N),     batches,
                                SPLIT_K ? splits : 1, STREAM_K ? streamed : 0, group_m,
                                ceil_div(K, TILE_K)};
  TensorQueue queue(schedule, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                    WholeMatrices());
  TensorWork work;
  VectorCopies copies;
  await_earlier_launches();
  while (queue.next(work)) {
    const bool is_split = SPLIT_K && work.splits > 1;
    if (is_split) splits_of(work).begin();

    const int k_tiles = work.end - work.begin;
    MmaSource<Rows, VECTOR_A, THREADS> source_a(A + work.batch * stride_a, lda, work.m * TILE_M, M,
                                                work.begin * TILE_K, depth);
    MmaSource<Columns, VECTOR_B, THREADS> source_b(B + work.batch * stride_b, ldb, work.n * TILE_N,
                                                   N, work.begin * TILE_K, depth);
    // Begins one of `shares` shares of the copies of a k-tile.
    const auto fetch = [&](int stage, int share, int shares) {
      const unsigned to = stages + static_cast<unsigned>(stage * STAGE_BYTES);
#pragma unroll
      for (int pass = share; pass < source_a.PASSES; pass += shares) {
        source_a.copy(copies, to, pass);
      }
#pragma unroll
      for (int pass = share; pass < source_b.PASSES; pass += shares) {
        source_b.copy(copies, to + Rows::BYTES, pass);
      }
      if (share == shares - 1) {
        source_a.advance();
        source_b.advance();
      }
    };

#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      if (stage < k_tiles) fetch(stage, 0, 1);
      copies.commit();
    }
    copies.await<STAGES - 2>();
    __syncthreads();
    Sums sum = {};
    Fragments fragments[FRAGMENTS];
    load(fragments[0], 0, 0);
    int stage = 0;
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      const int emptied = stage == 0 ? STAGES - 1 : stage - 1;
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        if constexpr (FRAGMENTS == 1) multiply(sum, fragments[0]);
        if (step == STEPS - 1) {
          // The next k-tile is there, and all warps have loaded the last fragments of this one.
          copies.await<STAGES - 2>();
          __syncthreads();
          stage = stage + 1 < STAGES ? stage + 1 : 0;
        }
        load(fragments[(step + 1) % FRAGMENTS], stage, (step + 1) % STEPS);
        if (step < STEPS - 1) {
          if (k_tile + STAGES - 1 < k_tiles) fetch(emptied, step, STEPS - 1);
          if (step == STEPS - 2) copies.commit();
        }
        if constexpr (FRAGMENTS == 2) multiply(sum, fragments[step % 2]);
      }
    }
    unsigned begun = 0;
    if (is_split) begun = splits_of(work).begun();
    if constexpr (!STREAM_K) allow_next_launch();  // earlier, its blocks would take places here

    const long long offset = work.batch * stride_c;
    const MmaOutput<TC, S, VECTOR_C, BIAS, ACTIVATION, RESIDUAL> c{
        C + offset, M, N, ldc, alpha, beta, bias, RESIDUAL ? residual + offset : residual};
    const int row0 = work.m * TILE_M, column0 = work.n * TILE_N;
    if (is_split) {
      splits_of(work).reduce(
          work.split, queue.is_empty(), begun,
          [&](int i) { return sum[i / Part::FRAGMENTS_N][i % Part::FRAGMENTS_N]; },
          [&](int split) { return work.slot(split); }, [] { __syncthreads(); },
          StoreSplitTotals<Part, THREADS, WARPS_N, decltype(c)>{c, row0, column0});
    } else {
      S* const staged = reinterpret_cast<S*>(dynamic_shared()) + warp * Part::STAGED;
      Part::store(sum, c, row0 + warp_m, column0 + warp_n, staged);
    }
    if constexpr (!STREAM_K) return;
    __syncthreads();  // the ring has been read
  }
}
