// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C in single precision, row-major: op(A) is M x K, op(B) is
// K x N, C is M x N; lda, ldb and ldc are the leading dimensions, in floats. The matrices of a
// batch are stride_a, stride_b and stride_c floats apart.
//
// A block computes a tile of C from k-tiles of A and B ("slab" in names) in a shared memory
// pipeline of STAGES stages. A warp computes a part of the tile, a thread THREAD_M x THREAD_N
// elements of it in registers. With SPLIT_K the blocks in y divide K; the last block of a tile to
// finish adds the partial sums in a fixed order. K_GROUPS groups of warps divide each k-tile.
//
// Grid (tiles of C, parts of K, batch), block (THREADS). Any M, N, K >= 1. As in BLAS, alpha == 0
// reads neither A nor B, and beta == 0 does not read C.
//
// Template parameters: spaces/gemm.json. Design: docs/reference/kernels.md.

#include "operand.cuh"
#include "pipeline.cuh"
#include "split_k.cuh"
#include "tile.cuh"

template <bool TRANS_A, bool TRANS_B, bool FAR, int VEC_A, int VEC_B, int VEC_C, bool STAGED_C,
          int THREAD_M, int THREAD_N, int LANES_M, int WARPS_M, int WARPS_N, int BLOCK_K,
          int STAGES, int PRODUCERS, int COPY, int TURN, int PAD, int STEP_K, int UNROLL_K,
          int FRAGMENTS, int K_GROUPS, bool SPLIT_K, int GROUP_M, int MIN_BLOCKS>
__global__ void __launch_bounds__(32 * (WARPS_M * WARPS_N * K_GROUPS + PRODUCERS), MIN_BLOCKS)
    gemm_tiled(int M, int N, int K, float alpha, const float* __restrict__ A, int lda,
               const float* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc,
               long long stride_a, long long stride_b, long long stride_c, float* partials,
               unsigned* arrivals) {
  constexpr int LANES_N = 32 / LANES_M;
  constexpr int WARPS = WARPS_M * WARPS_N;
  constexpr int GROUP_THREADS = 32 * WARPS;
  constexpr int THREADS = GROUP_THREADS * K_GROUPS;  // of the consumer warps
  constexpr int COPIERS = PRODUCERS == 0 ? THREADS : 32 * PRODUCERS;
  constexpr int WARP_M = LANES_M * THREAD_M;
  constexpr int WARP_N = LANES_N * THREAD_N;
  constexpr int TILE_M = WARPS_M * WARP_M;
  constexpr int TILE_N = WARPS_N * WARP_N;
  constexpr int ELEMENTS = THREAD_M * THREAD_N;
  constexpr int GROUP_K = BLOCK_K / K_GROUPS;
  constexpr Way DIRECT = Way(COPY);
  constexpr Way TURNING = TURN == 2 ? Way::registers : Way::async;
  constexpr bool TURN_A = !TRANS_A && TURN != 0;
  constexpr bool TURN_B = TRANS_B && TURN != 0;
  constexpr int UNROLL = PRODUCERS == 0 ? 64 : 2;  // producers have few registers
  using Offset = typename Distance<FAR>::type;     // between global rows of one k-tile
  using OperandA = Operand<Offset, !TRANS_A, TURN_A, TURN_A ? TURNING : DIRECT, TILE_M, BLOCK_K,
                           VEC_A, !TRANS_A ? PAD : 0, COPIERS, THREAD_M, LANES_M, STEP_K, UNROLL>;
  using OperandB = Operand<Offset, TRANS_B, TURN_B, TURN_B ? TURNING : DIRECT, TILE_N, BLOCK_K,
                           VEC_B, TRANS_B ? PAD : 0, COPIERS, THREAD_N, LANES_N, STEP_K, UNROLL>;
  constexpr int STAGE_FLOATS = OperandA::FLOATS + OperandB::FLOATS;
  constexpr int STEPS = UNROLL_K / STEP_K;
  constexpr int CHUNKS = GROUP_K / UNROLL_K;  // iterations of the inner loop, UNROLL_K deep each
  static_assert(
      GROUP_K % UNROLL_K == 0 && UNROLL_K % STEP_K == 0 && (FRAGMENTS == 1 || STEPS % 2 == 0),
      "fragments alternate");

  extern __shared__ __align__(128) float shared[];

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
  const int depth = alpha == 0.0f ? 0 : K;
  const int part = ceil_div(ceil_div(depth, SPLIT_K ? gridDim.y : 1), BLOCK_K) * BLOCK_K;
  const int begin = blockIdx.y * part;
  const int end = !SPLIT_K || depth - begin < part ? depth : begin + part;
  const int slabs = end > begin ? ceil_div(end - begin, BLOCK_K) : 0;

  const int copier = PRODUCERS == 0 ? thread : thread - THREADS;
  OperandA a(A + blockIdx.z * stride_a, lda, row0, M, begin, copier);
  OperandB b(B + blockIdx.z * stride_b, ldb, col0, N, begin, copier);
  const bool inside = row0 + TILE_M <= M && col0 + TILE_N <= N;
  const auto fetch = [&](int slab, int stage) {
    float* const to = shared + stage * STAGE_FLOATS;
    const int left = end - begin - slab * BLOCK_K;
    if (inside && left >= BLOCK_K) {
      a.template fetch<true>(to, left);
      b.template fetch<true>(to + OperandA::FLOATS, left);
    } else {
      a.template fetch<false>(to, left);
      b.template fetch<false>(to + OperandA::FLOATS, left);
    }
  };
  const auto store = [&](int stage) {
    float* const to = shared + stage * STAGE_FLOATS;
    a.store(to);
    b.store(to + OperandA::FLOATS);
  };

  // Hidden from the compiler: a fully unrolled k-tile would not fit in the instruction cache.
  const int chunks = hidden(CHUNKS);
  float sum[ELEMENTS];  // row-major
  const auto accumulate = [&](const typename OperandA::Fragment& fa,
                              const typename OperandB::Fragment& fb) {
#pragma unroll
    for (int step = 0; step < STEP_K; ++step) {
      add_products<THREAD_M, THREAD_N>(sum, fa.at[step], fb.at[step]);
    }
  };

  // Where this thread reads the next chunk.
  const float* at_a;
  const float* at_b;
  const auto go_to_slab = [&](int stage) {
    at_a = shared + stage * STAGE_FLOATS + OperandA::start(warp_m, lane_m, group * GROUP_K);
    at_b = shared + stage * STAGE_FLOATS + OperandA::FLOATS +
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
    for (int i = 0; i < ELEMENTS; ++i) sum[i] = 0.0f;
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
    using Shared = SharedStages<STAGES>;
    begin_sum();
    constexpr int AHEAD = Shared::AHEAD;
#pragma unroll
    for (int stage = 0; stage < AHEAD; ++stage) {
      if (stage < slabs) {
        fetch(stage, stage);
        store(stage);
      }
      Shared::fetched();
    }
    int read_stage = 0, write_stage = AHEAD;
    Shared::await();
    go_to_slab(0);
    begin_compute();
    for (int slab = 0; slab < slabs; ++slab) {
      const bool more = slab + AHEAD < slabs;
      if (more) fetch(slab + AHEAD, write_stage);
      Shared::fetched();
      for (int chunk = 1;; ++chunk) {
        compute();
        if (chunk < chunks) {
          go_to_chunk();
        } else {
          if (more) store(write_stage);
          write_stage = write_stage + 1 == STAGES ? 0 : write_stage + 1;
          read_stage = read_stage + 1 == STAGES ? 0 : read_stage + 1;
          Shared::await();
          go_to_slab(read_stage);
        }
        end_compute();
        if (chunk >= chunks) break;
      }
    }
  } else {
    HandedStages<STAGES, PRODUCERS, WARPS * K_GROUPS> stages(thread);
    // Producer warps need few registers; consumer warps get the rest.
    constexpr int GIVEN = 65536 / (MIN_BLOCKS * (THREADS + COPIERS)) / 8 * 8;
    constexpr int START = GIVEN < 248 ? GIVEN : 248;
    constexpr int FEW = 40;
    constexpr int MANY = (START * (THREADS + COPIERS) - FEW * COPIERS) / THREADS / 8 * 8;
    if (thread >= THREADS) {
      set_registers<FEW, START>();
      for (int slab = 0; slab < slabs; ++slab) {
        stages.await_empty();
        fetch(slab, stages.stage);
        stages.fetched();
        stages.turn();
      }
      return;
    }
    set_registers<(MANY < 240 ? MANY : 240), START>();
    begin_sum();
    if (slabs > 0) stages.await_full();
    go_to_slab(0);
    begin_compute();
    for (int slab = 0; slab < slabs; ++slab) {
      const unsigned stage = stages.stage;
      for (int chunk = 1;; ++chunk) {
        compute();
        if (chunk < chunks) {
          go_to_chunk();
        } else {
          stages.turn();
          if (slab + 1 < slabs) stages.await_full();
          go_to_slab(stages.stage);
        }
        end_compute();
        if (chunk >= chunks) break;
      }
      stages.release(stage);
    }
  }

  // Sum over the groups of warps.
  const int in_group = thread % GROUP_THREADS;
  if constexpr (K_GROUPS > 1) {
    if (!sum_of_groups<K_GROUPS, GROUP_THREADS, 32 * PRODUCERS>(sum, shared, group, in_group))
      return;
  }
  if constexpr (SPLIT_K) {
    const long long index = static_cast<long long>(blockIdx.z) * gridDim.x + blockIdx.x;
    constexpr int OTHERS = THREADS - GROUP_THREADS + 32 * PRODUCERS;
    if (!sum_of_splits<GROUP_THREADS, OTHERS>(sum, partials, arrivals, index, blockIdx.y, gridDim.y,
                                              in_group)) {
      return;
    }
  }

  const Target c{C + blockIdx.z * stride_c, M, N, ldc};
  const auto row_of = [&](int i, int of_lane_m) {
    return row0 + warp_m + OperandA::offset(of_lane_m, i);
  };
  if constexpr (STAGED_C) {
    // All threads have read the k-tiles.
    sync_threads<GROUP_THREADS, THREADS - GROUP_THREADS + 32 * PRODUCERS>();
    store_staged_tile<OperandB, THREAD_M, THREAD_N, LANES_M>(
        sum, shared + warp * (LANES_M * WARP_N), lane, c, alpha, beta, row_of, col0 + warp_n);
  } else {
    constexpr int WIDE = OperandB::GROUP < VEC_C ? OperandB::GROUP : VEC_C;
    store_tile<THREAD_M, THREAD_N, WIDE>(
        sum, c, alpha, beta, [&](int i) { return row_of(i, lane_m); },
        [&](int j) { return col0 + warp_n + OperandB::offset(lane_n, j); });
  }
}
