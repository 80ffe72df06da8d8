// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C in single precision, row-major, as gemm_tiled.cu, for
// compute capability 9.0.
//
// Four producer warps load k-tiles of A and B into shared memory by TMA; each requests a box with
// every fourth row of a k-tile. They transpose operands that are contiguous along K, and realign
// rows that do not start on 16 bytes. Consumer warps only compute. Each stage has a full and an
// empty barrier.
//
// Grid (tiles of C, parts of K, batch), block (32 * warps). Any M, N, K >= 4; matrices and
// rows of any alignment; batch strides a multiple of 16 bytes. As in BLAS, alpha == 0 reads neither
// A nor B, and beta == 0 does not read C.
//
// Template parameters: spaces/gemm.json. Design: docs/reference/kernels.md.

#include "boxed_operand.cuh"
#include "pipeline.cuh"
#include "split_k.cuh"
#include "tile.cuh"

template <bool TRANS_A, bool TRANS_B, int MISALIGNMENT_A, int MISALIGNMENT_B, bool UNALIGNED_BASE,
          int VEC_C, bool STAGED_C, int THREAD_M, int THREAD_N, int LANES_M, int WARPS_M,
          int WARPS_N, int TILE_K, int STAGES, int STAGING_SLOTS, int UNROLL_K, int FRAGMENTS,
          int K_GROUPS, bool SPLIT_K, int GROUP_M, int MIN_BLOCKS>
__global__ void __launch_bounds__(32 * (WARPS_M * WARPS_N * K_GROUPS + 4), MIN_BLOCKS)
    gemm_tma(int M, int N, int K, float alpha, const float* A, int, const float* B, int, float beta,
             float* __restrict__ C, int ldc, long long, long long, long long stride_c,
             float* partials, unsigned* arrivals, const __grid_constant__ TensorMap a0,
             const __grid_constant__ TensorMap a1, const __grid_constant__ TensorMap a2,
             const __grid_constant__ TensorMap a3, const __grid_constant__ TensorMap b0,
             const __grid_constant__ TensorMap b1, const __grid_constant__ TensorMap b2,
             const __grid_constant__ TensorMap b3) {
  constexpr int LANES_N = 32 / LANES_M;
  constexpr int WARPS = WARPS_M * WARPS_N;
  constexpr int GROUP_THREADS = 32 * WARPS;
  constexpr int CONSUMER_THREADS = GROUP_THREADS * K_GROUPS;
  constexpr int PRODUCER_THREADS = 32 * BOXES;
  constexpr int WARP_M = LANES_M * THREAD_M;
  constexpr int WARP_N = LANES_N * THREAD_N;
  constexpr int TILE_M = WARPS_M * WARP_M;
  constexpr int TILE_N = WARPS_N * WARP_N;
  constexpr int GROUP_K = TILE_K / K_GROUPS;
  constexpr int CHUNKS = GROUP_K / UNROLL_K;  // iterations of the inner loop, UNROLL_K deep each
  using OperandA =
      BoxedOperand<!TRANS_A, MISALIGNMENT_A, UNALIGNED_BASE, TILE_M, TILE_K, THREAD_M, LANES_M>;
  using OperandB =
      BoxedOperand<TRANS_B, MISALIGNMENT_B, UNALIGNED_BASE, TILE_N, TILE_K, THREAD_N, LANES_N>;
  constexpr int STAGE_FLOATS = OperandA::FLOATS + OperandB::FLOATS;
  constexpr int STAGED_FLOATS = OperandA::STAGED_FLOATS + OperandB::STAGED_FLOATS;
  // A staging slot: the boxes of A, then those of B.
  constexpr int SLOT_B = align_up(OperandA::STAGED_FLOATS, OperandB::BOX_ALIGN);
  constexpr int SLOT_FLOATS = SLOT_B + OperandB::STAGED_FLOATS;
  constexpr int SLOT_PITCH =
      align_up(SLOT_FLOATS, OperandA::BOX_ALIGN > OperandB::BOX_ALIGN ? OperandA::BOX_ALIGN
                                                                      : OperandB::BOX_ALIGN);
  constexpr int DIRECT_FLOATS = OperandA::DIRECT_FLOATS + OperandB::DIRECT_FLOATS;
  static_assert(GROUP_K % UNROLL_K == 0 && UNROLL_K % 2 == 0,
                "a group's part of a k-tile is whole iterations, of an even number of steps");

  extern __shared__ __align__(1024) float shared[];
  float* const k_tile_stages = shared + (STAGING_SLOTS - 1) * SLOT_PITCH + SLOT_FLOATS;
  __shared__ unsigned long long barriers[2 * STAGES + STAGING_SLOTS];
  const unsigned full = hidden(static_cast<unsigned>(__cvta_generic_to_shared(barriers)));
  const unsigned empty = full + 8 * STAGES;
  const unsigned staged = empty + 8 * STAGES;

  const int thread = threadIdx.x;
  const int tiles_m = ceil_div(M, TILE_M);
  const int tiles_n = ceil_div(N, TILE_N);
  const Tile tile = tile_of<GROUP_M>(blockIdx.x, tiles_m, tiles_n);
  const int row0 = tile.m * TILE_M, col0 = tile.n * TILE_N;

  // This block's part of K: a whole number of k-tiles.
  const int depth = alpha == 0.0f ? 0 : K;
  const int part = ceil_div(ceil_div(depth, SPLIT_K ? gridDim.y : 1), TILE_K) * TILE_K;
  const int begin = blockIdx.y * part;
  const int end = !SPLIT_K || depth - begin < part ? depth : begin + part;
  const int k_tiles = end > begin ? ceil_div(end - begin, TILE_K) : 0;

  if (thread < 2 * STAGES + STAGING_SLOTS) {
    constexpr int FULL_ARRIVALS = (STAGED_FLOATS > 0 ? BOXES : 0) + (DIRECT_FLOATS > 0 ? BOXES : 0);
    make_barrier(full + 8 * thread, thread < STAGES       ? FULL_ARRIVALS
                                    : thread < 2 * STAGES ? CONSUMER_THREADS / 32
                                                          : BOXES);
    publish_barriers();
  }
  __syncthreads();

  int stage = 0;
  unsigned parity = 0;
  const auto next_stage = [&] {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  };

  // Producer warps need few registers; consumer warps get the rest.
  constexpr int AVAILABLE = 65536 / (MIN_BLOCKS * (CONSUMER_THREADS + PRODUCER_THREADS)) / 8 * 8;
  constexpr int LAUNCH_REGISTERS = AVAILABLE < 248 ? AVAILABLE : 248;
  constexpr int PRODUCER_REGISTERS = STAGED_FLOATS > 0 ? 56 : 24;
  constexpr int REMAINING = (LAUNCH_REGISTERS * (CONSUMER_THREADS + PRODUCER_THREADS) -
                             PRODUCER_REGISTERS * PRODUCER_THREADS) /
                            CONSUMER_THREADS / 8 * 8;
  constexpr int CONSUMER_REGISTERS = REMAINING < 240 ? REMAINING : 240;
  if (thread >= CONSUMER_THREADS) {
    set_registers<PRODUCER_REGISTERS, LAUNCH_REGISTERS>();
    const int producer = thread - CONSUMER_THREADS;
    const int box = producer / 32;
    const bool elected = producer % 32 == 0;
    const BoxedMatrix a{box == 0 ? &a0 : box == 1 ? &a1 : box == 2 ? &a2 : &a3};
    const BoxedMatrix b{box == 0 ? &b0 : box == 1 ? &b1 : box == 2 ? &b2 : &b3};
    const auto fetch_a = [&](float* to, int k_tile, unsigned barrier) {
      const int k = begin + k_tile * TILE_K;
      a.fetch(to + box * OperandA::BOX_FLOATS, TRANS_A ? k : row0, TRANS_A ? row0 : k, blockIdx.z,
              barrier);
    };
    const auto fetch_b = [&](float* to, int k_tile, unsigned barrier) {
      const int k = begin + k_tile * TILE_K;
      b.fetch(to + box * OperandB::BOX_FLOATS, TRANS_B ? col0 : k, TRANS_B ? k : col0, blockIdx.z,
              barrier);
    };
    const auto fetch_direct = [&](float* to, int k_tile, unsigned barrier) {
      arrive_expecting(barrier, 4 * DIRECT_FLOATS / BOXES);
      if (!OperandA::STAGED) fetch_a(to, k_tile, barrier);
      if (!OperandB::STAGED) fetch_b(to + OperandA::FLOATS, k_tile, barrier);
    };
    if constexpr (STAGED_FLOATS == 0) {
      if (!elected) return;
      for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        await_barrier(empty + 8 * stage, parity ^ 1);  // the first wait on a new barrier passes
        fetch_direct(k_tile_stages + stage * STAGE_FLOATS, k_tile, full + 8 * stage);
        next_stage();
      }
    } else {
      const auto fetch_staged = [&](int k_tile) {
        const int slot = k_tile % STAGING_SLOTS;
        float* const to = shared + slot * SLOT_PITCH;
        arrive_expecting(staged + 8 * slot, 4 * STAGED_FLOATS / BOXES);
        if (OperandA::STAGED) fetch_a(to, k_tile, staged + 8 * slot);
        if (OperandB::STAGED) fetch_b(to + SLOT_B, k_tile, staged + 8 * slot);
      };
      if (elected) {
        for (int k_tile = 0; k_tile < STAGING_SLOTS && k_tile < k_tiles; ++k_tile)
          fetch_staged(k_tile);
      }
      int slot = 0;
      unsigned slot_parity = 0;
      for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        float* const to = k_tile_stages + stage * STAGE_FLOATS;
        const float* const from = shared + slot * SLOT_PITCH;
        await_barrier(empty + 8 * stage, parity ^ 1);
        if (DIRECT_FLOATS > 0 && elected) fetch_direct(to, k_tile, full + 8 * stage);
        await_barrier(staged + 8 * slot, slot_parity);
        if constexpr (OperandA::STAGED) {
          OperandA::template transform<PRODUCER_THREADS>(from, to, A, producer);
        }
        if constexpr (OperandB::STAGED) {
          OperandB::template transform<PRODUCER_THREADS>(from + SLOT_B, to + OperandA::FLOATS, B,
                                                         producer);
        }
        __syncwarp();
        if (elected) arrive(full + 8 * stage);
        asm volatile("bar.sync 2, %0;" ::"n"(PRODUCER_THREADS)
                     : "memory");  // the slot has been read
        if (elected && k_tile + STAGING_SLOTS < k_tiles) fetch_staged(k_tile + STAGING_SLOTS);
        if (++slot == STAGING_SLOTS) {
          slot = 0;
          slot_parity ^= 1;
        }
        next_stage();
      }
    }
    return;
  }
  set_registers<CONSUMER_REGISTERS, LAUNCH_REGISTERS>();

  const int group = thread / GROUP_THREADS;
  const int in_group = thread % GROUP_THREADS;
  const int warp = in_group / 32;
  const int lane = thread % 32;
  const int lane_m = lane / LANES_N, lane_n = lane % LANES_N;
  const int warp_m = warp / WARPS_N * WARP_M, warp_n = warp % WARPS_N * WARP_N;

  float sum[THREAD_M * THREAD_N];  // row-major
#pragma unroll
  for (int i = 0; i < THREAD_M * THREAD_N; ++i) sum[i] = 0.0f;

  // Where this thread reads the next chunk.
  const float* at_a;
  const float* at_b;
  const auto go_to_k_tile = [&] {
    const float* const k_tile = k_tile_stages + stage * STAGE_FLOATS;
    at_a = k_tile + OperandA::start(warp_m, lane_m, group * GROUP_K);
    at_b = k_tile + OperandA::FLOATS + OperandB::start(warp_n, lane_n, group * GROUP_K);
  };
  float a[FRAGMENTS][THREAD_M];
  float b[FRAGMENTS][THREAD_N];
  const auto read = [&](int fragment, int step) {
    OperandA::read(a[fragment], at_a, step);
    OperandB::read(b[fragment], at_b, step);
  };
  const auto multiply = [&](int fragment) {
    add_products<THREAD_M, THREAD_N>(sum, a[fragment], b[fragment]);
  };

  // With two fragments the first ones of the next chunk are loaded before the last ones of this
  // chunk are used. Hidden from the compiler: a fully unrolled k-tile would not fit in the
  // instruction cache.
  const int chunks = hidden(CHUNKS);
  if (k_tiles > 0) await_barrier(full, 0);
  go_to_k_tile();
  if (FRAGMENTS == 2) read(0, 0);
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const int read_stage = stage;
    for (int chunk = 1;; ++chunk) {
#pragma unroll
      for (int step = 0; step < UNROLL_K; ++step) {
        if constexpr (FRAGMENTS == 1) {
          read(0, step);
          multiply(0);
        } else if (step + 1 < UNROLL_K) {
          read((step + 1) % 2, step + 1);
          multiply(step % 2);
        }
      }
      if (chunk < chunks) {
        at_a += OperandA::distance(UNROLL_K);
        at_b += OperandB::distance(UNROLL_K);
      } else {
        next_stage();
        if (k_tile + 1 < k_tiles) await_barrier(full + 8 * stage, parity);
        go_to_k_tile();
      }
      if constexpr (FRAGMENTS == 2) {
        read(0, 0);
        multiply(1);
      }
      if (chunk >= chunks) break;
    }
    __syncwarp();
    if (lane == 0) arrive(empty + 8 * read_stage);
  }

  if constexpr (K_GROUPS > 1) {
    if (!reduce_groups<K_GROUPS, GROUP_THREADS, PRODUCER_THREADS>(sum, shared, group, in_group))
      return;
  }
  if constexpr (SPLIT_K) {
    const long long index = static_cast<long long>(blockIdx.z) * gridDim.x + blockIdx.x;
    constexpr int OTHERS = CONSUMER_THREADS - GROUP_THREADS + PRODUCER_THREADS;
    if (!reduce_splits<GROUP_THREADS, OTHERS>(sum, partials, arrivals, index, blockIdx.y, gridDim.y,
                                              in_group)) {
      return;
    }
  }
  const OutputMatrix<float> c{C + blockIdx.z * stride_c, M, N, ldc};
  const auto row_of = [&](int i, int of_lane_m) {
    return row0 + warp_m + OperandA::offset(of_lane_m, i);
  };
  if constexpr (STAGED_C) {
    // All threads have read the k-tiles.
    sync_threads<GROUP_THREADS, CONSUMER_THREADS - GROUP_THREADS + PRODUCER_THREADS>();
    store_staged_tile<OperandB, THREAD_M, THREAD_N, LANES_M>(
        sum, shared + warp * (LANES_M * WARP_N), lane, c, alpha, beta, row_of, col0 + warp_n);
  } else {
    constexpr int WIDE = OperandB::GROUP < VEC_C ? OperandB::GROUP : VEC_C;
    store_tile<THREAD_M, THREAD_N, WIDE>(
        sum, c, alpha, beta, [&](int i) { return row_of(i, lane_m); },
        [&](int j) { return col0 + warp_n + OperandB::offset(lane_n, j); });
  }
}
