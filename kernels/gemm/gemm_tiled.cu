// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C, row-major: op(A) is M x K, op(B) is K x N, C is M x N; lda,
// ldb and ldc are the leading dimensions, in elements. The matrices of a batch are stride_a,
// stride_b and stride_c elements apart.
//
// A block computes a tile of C from k-tiles of A and B in a shared memory pipeline of STAGES
// stages. A warp computes a part of the tile, a thread THREAD_M x THREAD_N elements of it in
// registers. With SPLIT_K the blocks in y divide K; the last block of a tile to finish adds the
// partial sums in a fixed order. K_GROUPS groups of warps divide each k-tile.
//
// Grid (tiles of C, parts of K, batch), block (32 * warps). Any M, N, K >= 1. As in BLAS,
// alpha == 0 reads neither A nor B, and beta == 0 does not read C.
//
// Template parameters: spaces/gemm.json. Design: docs/reference/kernels.md.

#include "common/element.cuh"
#include "operand.cuh"
#include "pipeline.cuh"
#include "split_k.cuh"
#include "tile.cuh"

template <class T, class Result, bool TRANS_A, bool TRANS_B, bool OFFSETS_64, int VEC_A, int VEC_B,
          int VEC_C, bool STAGED_C, int THREAD_M, int THREAD_N, int LANES_M, int WARPS_M,
          int WARPS_N, int TILE_K, int STAGES, int PRODUCERS, int COPY, int TRANSPOSE, int PAD,
          int STEP_K, int UNROLL_K, int FRAGMENTS, int K_GROUPS, bool SPLIT_K, int GROUP_M,
          int MIN_BLOCKS>
__global__ void __launch_bounds__(32 * (WARPS_M * WARPS_N * K_GROUPS + PRODUCERS), MIN_BLOCKS)
    gemm_tiled(int M, int N, int K, Sum<T> alpha, const T* __restrict__ A, int lda,
               const T* __restrict__ B, int ldb, Sum<T> beta, Result* __restrict__ C, int ldc,
               long long stride_a, long long stride_b, long long stride_c, Sum<T>* partials,
               unsigned* arrivals) {
  constexpr int LANES_N = 32 / LANES_M;
  constexpr int WARPS = WARPS_M * WARPS_N;
  constexpr int GROUP_THREADS = 32 * WARPS;
  constexpr int CONSUMER_THREADS = GROUP_THREADS * K_GROUPS;
  constexpr int COPY_THREADS = PRODUCERS == 0 ? CONSUMER_THREADS : 32 * PRODUCERS;
  constexpr int WARP_M = LANES_M * THREAD_M;
  constexpr int WARP_N = LANES_N * THREAD_N;
  constexpr int TILE_M = WARPS_M * WARP_M;
  constexpr int TILE_N = WARPS_N * WARP_N;
  constexpr int ELEMENTS = THREAD_M * THREAD_N;
  constexpr int GROUP_K = TILE_K / K_GROUPS;
  constexpr int PADDING = 4 * PAD / sizeof(T);
  // cp.async copies 4 bytes or more.
  constexpr CopyMethod PLAIN_A = CopyMethod(COPY && VEC_A * sizeof(T) >= 4);
  constexpr CopyMethod PLAIN_B = CopyMethod(COPY && VEC_B * sizeof(T) >= 4);
  constexpr CopyMethod TRANSPOSING = CopyMethod(TRANSPOSE != 2 && sizeof(T) >= 4);
  constexpr bool TRANSPOSE_A = !TRANS_A && TRANSPOSE != 0;
  constexpr bool TRANSPOSE_B = TRANS_B && TRANSPOSE != 0;
  constexpr int UNROLL = PRODUCERS == 0 ? 64 : 2;       // producers have few registers
  using Offset = typename RowOffset<OFFSETS_64>::type;  // between global rows of one k-tile
  using OperandA =
      Operand<T, Offset, !TRANS_A, TRANSPOSE_A, TRANSPOSE_A ? TRANSPOSING : PLAIN_A, TILE_M, TILE_K,
              VEC_A, !TRANS_A ? PADDING : 0, COPY_THREADS, THREAD_M, LANES_M, STEP_K, UNROLL>;
  using OperandB =
      Operand<T, Offset, TRANS_B, TRANSPOSE_B, TRANSPOSE_B ? TRANSPOSING : PLAIN_B, TILE_N, TILE_K,
              VEC_B, TRANS_B ? PADDING : 0, COPY_THREADS, THREAD_N, LANES_N, STEP_K, UNROLL>;
  constexpr int STAGE_ELEMENTS = OperandA::ELEMENTS + OperandB::ELEMENTS;
  constexpr int STEPS = UNROLL_K / STEP_K;
  constexpr int CHUNKS = GROUP_K / UNROLL_K;  // iterations of the inner loop, UNROLL_K deep each
  static_assert(
      GROUP_K % UNROLL_K == 0 && UNROLL_K % STEP_K == 0 && (FRAGMENTS == 1 || STEPS % 2 == 0),
      "a group's part of a k-tile is whole iterations; two fragments need an even number of steps");

  extern __shared__ __align__(128) unsigned char shared[];
  T* const stages = reinterpret_cast<T*>(shared);
  Sum<T>* const sums = reinterpret_cast<Sum<T>*>(shared);  // when the k-tiles are no longer used

  const int thread = threadIdx.x;
  const int group = thread / GROUP_THREADS;
  const int warp = thread % GROUP_THREADS / 32;
  const int lane = thread % 32;
  const int lane_m = lane / LANES_N, lane_n = lane % LANES_N;
  const int warp_m = warp / WARPS_N * WARP_M, warp_n = warp % WARPS_N * WARP_N;

  const int tiles_m = ceil_div(M, TILE_M);
  const int tiles_n = ceil_div(N, TILE_N);
  const Tile tile = tile_of<GROUP_M>(blockIdx.x, tiles_m, tiles_n);
  const int row0 = tile.m * TILE_M, col0 = tile.n * TILE_N;

  // This block's part of K: a whole number of k-tiles.
  const int depth = alpha == 0 ? 0 : K;
  const int part = ceil_div(ceil_div(depth, SPLIT_K ? gridDim.y : 1), TILE_K) * TILE_K;
  const int begin = blockIdx.y * part;
  const int end = !SPLIT_K || depth - begin < part ? depth : begin + part;
  const int k_tiles = end > begin ? ceil_div(end - begin, TILE_K) : 0;

  const int copy_thread = PRODUCERS == 0 ? thread : thread - CONSUMER_THREADS;
  OperandA a(A + blockIdx.z * stride_a, lda, row0, M, begin, copy_thread);
  OperandB b(B + blockIdx.z * stride_b, ldb, col0, N, begin, copy_thread);
  const bool inside = row0 + TILE_M <= M && col0 + TILE_N <= N;
  const auto fetch = [&](int k_tile, int stage) {
    T* const to = stages + stage * STAGE_ELEMENTS;
    const int left = end - begin - k_tile * TILE_K;
    if (inside && left >= TILE_K) {
      a.template fetch<true>(to, left);
      b.template fetch<true>(to + OperandA::ELEMENTS, left);
    } else {
      a.template fetch<false>(to, left);
      b.template fetch<false>(to + OperandA::ELEMENTS, left);
    }
  };
  const auto store = [&](int stage) {
    T* const to = stages + stage * STAGE_ELEMENTS;
    a.store(to);
    b.store(to + OperandA::ELEMENTS);
  };

  // Hidden from the compiler: a fully unrolled k-tile would not fit in the instruction cache.
  const int chunks = hidden(CHUNKS);
  Sum<T> sum[ELEMENTS];  // row-major
  const auto accumulate = [&](const typename OperandA::Fragment& fa,
                              const typename OperandB::Fragment& fb) {
#pragma unroll
    for (int step = 0; step < STEP_K; ++step) {
      add_products<THREAD_M, THREAD_N>(sum, fa.at[step], fb.at[step]);
    }
  };

  // Where this thread reads the next chunk.
  const T* at_a;
  const T* at_b;
  const auto go_to_k_tile = [&](int stage) {
    at_a = stages + stage * STAGE_ELEMENTS + OperandA::start(warp_m, lane_m, group * GROUP_K);
    at_b = stages + stage * STAGE_ELEMENTS + OperandA::ELEMENTS +
           OperandB::start(warp_n, lane_n, group * GROUP_K);
  };
  const auto go_to_chunk = [&] {
    at_a += OperandA::distance(UNROLL_K);
    at_b += OperandB::distance(UNROLL_K);
  };
  typename OperandA::Fragment fa[FRAGMENTS];
  typename OperandB::Fragment fb[FRAGMENTS];
  const auto begin_sum = [&] {
#pragma unroll
    for (int i = 0; i < ELEMENTS; ++i) sum[i] = 0;
  };
  // With two fragments the first ones of the next chunk are loaded before the last ones of this
  // chunk are used, so that a chunk is computed in two parts.
  const auto read = [&](int fragment, int step) {
    fa[fragment] = OperandA::read(at_a, step * STEP_K);
    fb[fragment] = OperandB::read(at_b, step * STEP_K);
  };
  const auto begin_compute = [&] {
    if (FRAGMENTS == 2) read(0, 0);
  };
  const auto compute = [&] {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      if constexpr (FRAGMENTS == 1) {
        read(0, step);
        accumulate(fa[0], fb[0]);
      } else if (step + 1 < STEPS) {
        read((step + 1) % 2, step + 1);
        accumulate(fa[step % 2], fb[step % 2]);
      }
    }
  };
  const auto end_compute = [&] {
    if constexpr (FRAGMENTS == 2) {
      read(0, 0);
      accumulate(fa[1], fb[1]);
    }
  };

  if constexpr (PRODUCERS == 0) {
    using Pipeline = MultistagePipeline<STAGES>;
    begin_sum();
    constexpr int IN_FLIGHT = Pipeline::IN_FLIGHT;
#pragma unroll
    for (int stage = 0; stage < IN_FLIGHT; ++stage) {
      if (stage < k_tiles) {
        fetch(stage, stage);
        store(stage);
      }
      Pipeline::commit();
    }
    int read_stage = 0, write_stage = IN_FLIGHT;
    Pipeline::await();
    go_to_k_tile(0);
    begin_compute();
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      const bool more = k_tile + IN_FLIGHT < k_tiles;
      if (more) fetch(k_tile + IN_FLIGHT, write_stage);
      Pipeline::commit();
      for (int chunk = 1;; ++chunk) {
        compute();
        if (chunk < chunks) {
          go_to_chunk();
        } else {
          if (more) store(write_stage);
          write_stage = write_stage + 1 == STAGES ? 0 : write_stage + 1;
          read_stage = read_stage + 1 == STAGES ? 0 : read_stage + 1;
          Pipeline::await();
          go_to_k_tile(read_stage);
        }
        end_compute();
        if (chunk >= chunks) break;
      }
    }
  } else {
    ProducerConsumerPipeline<STAGES, PRODUCERS, WARPS * K_GROUPS> pipeline(thread);
    // Producer warps need few registers; consumer warps get the rest.
    constexpr int AVAILABLE = 65536 / (MIN_BLOCKS * (CONSUMER_THREADS + COPY_THREADS)) / 8 * 8;
    constexpr int LAUNCH_REGISTERS = AVAILABLE < 248 ? AVAILABLE : 248;
    constexpr int PRODUCER_REGISTERS = 40;
    constexpr int REMAINING =
        (LAUNCH_REGISTERS * (CONSUMER_THREADS + COPY_THREADS) - PRODUCER_REGISTERS * COPY_THREADS) /
        CONSUMER_THREADS / 8 * 8;
    constexpr int CONSUMER_REGISTERS = REMAINING < 240 ? REMAINING : 240;
    if (thread >= CONSUMER_THREADS) {
      set_registers<PRODUCER_REGISTERS, LAUNCH_REGISTERS>();
      for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        pipeline.await_empty();
        fetch(k_tile, pipeline.stage);
        pipeline.producer_commit();
        pipeline.advance();
      }
      return;
    }
    set_registers<CONSUMER_REGISTERS, LAUNCH_REGISTERS>();
    begin_sum();
    if (k_tiles > 0) pipeline.await_full();
    go_to_k_tile(0);
    begin_compute();
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      const unsigned stage = pipeline.stage;
      for (int chunk = 1;; ++chunk) {
        compute();
        if (chunk < chunks) {
          go_to_chunk();
        } else {
          pipeline.advance();
          if (k_tile + 1 < k_tiles) pipeline.await_full();
          go_to_k_tile(pipeline.stage);
        }
        end_compute();
        if (chunk >= chunks) break;
      }
      pipeline.release(stage);
    }
  }

  // Sum over the groups of warps.
  const int in_group = thread % GROUP_THREADS;
  if constexpr (K_GROUPS > 1) {
    if (!reduce_groups<K_GROUPS, GROUP_THREADS, 32 * PRODUCERS>(sum, sums, group, in_group)) return;
  }
  if constexpr (SPLIT_K) {
    const long long index = static_cast<long long>(blockIdx.z) * gridDim.x + blockIdx.x;
    constexpr int OTHERS = CONSUMER_THREADS - GROUP_THREADS + 32 * PRODUCERS;
    if (!reduce_splits<GROUP_THREADS, OTHERS>(sum, partials, arrivals, index, blockIdx.y, gridDim.y,
                                              in_group)) {
      return;
    }
  }

  const OutputMatrix<Result> c{C + blockIdx.z * stride_c, M, N, ldc};
  const auto row_of = [&](int i, int of_lane_m) {
    return row0 + warp_m + OperandA::offset(of_lane_m, i);
  };
  if constexpr (STAGED_C) {
    // All threads have read the k-tiles.
    sync_threads<GROUP_THREADS, CONSUMER_THREADS - GROUP_THREADS + 32 * PRODUCERS>();
    store_staged_tile<OperandB, THREAD_M, THREAD_N, LANES_M>(
        sum, sums + warp * (LANES_M * WARP_N), lane, c, alpha, beta, row_of, col0 + warp_n);
  } else {
    constexpr int WIDE = OperandB::GROUP < VEC_C ? OperandB::GROUP : VEC_C;
    store_tile<THREAD_M, THREAD_N, WIDE>(
        sum, c, alpha, beta, [&](int i) { return row_of(i, lane_m); },
        [&](int j) { return col0 + warp_n + OperandB::offset(lane_n, j); });
  }
}
