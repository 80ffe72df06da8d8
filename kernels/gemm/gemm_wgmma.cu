// SPDX-License-Identifier: Apache-2.0
// C = f(alpha * op(A) * op(B) + beta * C + bias + residual), row-major, on the tensor cores of
// compute capability 9.0: operands of bf16 and f16 in every layout, of tf32, e4m3 and int8
// contiguous along K; sums in single precision, of int8 in 32-bit integers.
//
// One thread of the producer warpgroup loads k-tiles into a ring of stages by TMA. Consumer
// warpgroups multiply them by wgmma and store C. Consumers share a tile (each has a part of its
// rows), or take tiles in turn, so that one stores while the other computes (PING_PONG). A block
// computes one tile after the other. Blocks of a cluster share operands: each loads a part of a
// k-tile for all that use it; or they divide K (CLUSTER_K), and a block has one tile. C is stored
// from registers, or through STORE_BUFFERS boxes of shared memory by TMA, while the next tile is
// computed.
//
// With SWAP the transpose of C is computed, op(B)' * op(A)': wgmma has 64 rows but as few as 8
// columns, so small M belongs there. Below, rows and columns are those of the computed product.
//
// Tensor cores add products of e4m3 with about 14 bits. With PROMOTED the sums of each k-tile of
// 128 steps are added to others in single precision.
//
// Grid (clusters * blocks of a cluster), block (128 * (consumers + 1)). Any M, N, K; operands whose
// rows start on 16 bytes. As in BLAS, alpha == 0 reads neither A nor B, and beta == 0 does not read
// C.
//
// Template parameters: the space file. Design: docs/reference/kernels.md.

#include "common/async_barrier.cuh"
#include "common/cluster.cuh"
#include "common/dependent_launch.cuh"
#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/shared_memory.cuh"
#include "common/warpgroup.cuh"
#include "common/wgmma.cuh"
#include "split_sums.cuh"
#include "tensor_epilogue.cuh"
#include "tensor_operand.cuh"
#include "tensor_producer.cuh"
#include "tensor_sums.cuh"
#include "tensor_work.cuh"

// CLUSTER_BLOCKS: blocks of a cluster. A cluster of one is not launched as one.
#if CLUSTER_BLOCKS > 1
#define CLUSTER_DIMENSIONS __cluster_dims__(CLUSTER_BLOCKS)
#else
#define CLUSTER_DIMENSIONS
#endif

/// A barrier of all consumers.
template <int CONSUMERS>
__device__ __forceinline__ void sync_consumers() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("bar.sync %0, %1;" ::"n"(1 + CONSUMERS), "n"(CONSUMERS * WARPGROUP) : "memory");
#else
  tuner::sync_named(1 + CONSUMERS, CONSUMERS * WARPGROUP);
#endif
}

/// The kernel below, also for a product whose rows are in groups.
template <class T, class TC, bool TRANS_A, bool TRANS_B, bool SWAP, int TILE_M, int TILE_N,
          int PANELS, int CONSUMERS, bool PING_PONG, int STAGES, int CLUSTER_M, int CLUSTER_N,
          int CLUSTER_K, int EVICT_FIRST, bool SPLIT_K, int VECTOR_C, int STORE_BUFFERS,
          int MIN_BLOCKS, bool PROMOTED, int BIAS, int ACTIVATION, bool RESIDUAL, class Groups>
__device__ __forceinline__ void multiply_tiles(const Groups& groups, int M, int N, int K,
                                               Sum<T> alpha, Sum<T> beta, TC* C, int ldc,
                                               long long stride_c, const TC* bias,
                                               const TC* residual, int batches, int splits,
                                               int streamed, int group_m, Sum<T>* partials,
                                               unsigned* arrivals, const TensorMap3& map_a,
                                               const TensorMap3& map_b, const TensorMap3& map_c) {
  constexpr int TILE_K = PANELS * (128 / static_cast<int>(sizeof(T)));
  constexpr int TEAM = PING_PONG ? 1 : CONSUMERS;  // warpgroups that share a tile
  constexpr int PARTS = TILE_M / (64 * TEAM);      // of 64 rows, of a warpgroup
  constexpr int CLUSTER = CLUSTER_M * CLUSTER_N * CLUSTER_K;
  static_assert(CLUSTER == CLUSTER_BLOCKS);
  constexpr bool SHARES = CLUSTER_M * CLUSTER_N > 1;  // blocks share operands
  constexpr int PEERS = CLUSTER_M + CLUSTER_N - 1;    // blocks that share an operand with this one
  static_assert(TILE_M % (64 * TEAM) == 0, "a warpgroup has a multiple of 64 rows");
  using Rows =
      TensorOperand<T, SWAP ? TRANS_B : !TRANS_A, TILE_M, TILE_K, CLUSTER_N, EVICT_FIRST == 1>;
  using Columns =
      TensorOperand<T, SWAP ? !TRANS_A : TRANS_B, TILE_N, TILE_K, CLUSTER_M, EVICT_FIRST == 2>;
  using Producer = TensorProducer<Rows, Columns, Groups, SWAP, STAGES, CLUSTER_K>;
  constexpr int STAGE_BYTES = Producer::STAGE_BYTES;
  using Staging = TensorStaging<TC, STORE_BUFFERS>;
  static_assert(CLUSTER_K == 1 || (!SHARES && !PING_PONG && STORE_BUFFERS == 0 &&
                                   TILE_M * TILE_N * 4 <= STAGES * STAGE_BYTES),
                "blocks that divide K have one tile, whose sums replace the stages");
  static_assert(STORE_BUFFERS == 0 || !SWAP, "boxes of C are not transposed");
  static_assert(!PROMOTED || TILE_K == 128, "sums of 128 steps are promoted");
  using S = Sum<T>;
  using What = Epilogue<TC, BIAS, ACTIVATION, RESIDUAL>;

  if (alpha == S(0)) {
    await_earlier_launches();
    return scale_output(C, M, N, ldc, stride_c, batches, beta, What{bias, residual});
  }

  const unsigned stages = shared_address(dynamic_shared());
  const unsigned staging = stages + STAGES * STAGE_BYTES;      // for each consumer
  const unsigned full = staging + CONSUMERS * Staging::BYTES;  // a barrier for each stage
  const unsigned empty = full + 8 * STAGES;
  const unsigned turns = empty + 8 * STAGES;  // a barrier for each consumer
  unsigned* const flags = reinterpret_cast<unsigned*>(
      dynamic_shared() + STAGES * STAGE_BYTES + CONSUMERS * Staging::BYTES +
      8 * (2 * STAGES + CONSUMERS));  // two for each consumer

  const int thread = threadIdx.x;
  const int rank = blockIdx.x % CLUSTER;  // in the cluster
  const bool is_producer = thread == CONSUMERS * WARPGROUP;
  const TensorSchedule schedule{ceil_div(SWAP ? N : M, TILE_M * CLUSTER_M),
                                ceil_div(SWAP ? M : N, TILE_N * CLUSTER_N),
                                batches,
                                SPLIT_K ? splits : 1,
                                SPLIT_K ? streamed : 0,
                                group_m,
                                ceil_div(K, TILE_K)};
  typename Groups::Queue queue(schedule, blockIdx.x / CLUSTER, gridDim.x / CLUSTER, groups);
  Producer producer(groups, SWAP ? map_b : map_a, SWAP ? map_a : map_b, stages, full, empty, rank);
  if (is_producer) {
    prefetch_map(map_a);
    prefetch_map(map_b);
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full + 8 * stage, 1);
      init_barrier(empty + 8 * stage, 4 * TEAM * PEERS);
    }
    for (int each = 0; each < CONSUMERS; ++each) init_barrier(turns + 8 * each, 4);
    publish_barriers();
  }
  __syncwarp();
  if constexpr (CLUSTER > 1) arrive_at_cluster();

  // The producer needs few registers; consumers get the rest.
  constexpr int THREADS = WARPGROUP * (CONSUMERS + 1);
  constexpr int AVAILABLE = 65536 / (MIN_BLOCKS * THREADS) / 8 * 8;
  constexpr int LAUNCH_REGISTERS = AVAILABLE < 248 ? AVAILABLE : 248;
  constexpr int NEEDED = SPLIT_K ? 80 : 56;  // for the schedule
  constexpr int PRODUCER_REGISTERS = NEEDED < LAUNCH_REGISTERS ? NEEDED : LAUNCH_REGISTERS;
  constexpr int REMAINING = (LAUNCH_REGISTERS * THREADS - PRODUCER_REGISTERS * WARPGROUP) /
                            (WARPGROUP * CONSUMERS) / 8 * 8;
  constexpr int CONSUMER_REGISTERS = REMAINING < 240 ? REMAINING : 240;
  const int consumer = thread / WARPGROUP;
  if (consumer == CONSUMERS) {
    if constexpr (CLUSTER == 1) arrive_at_block<THREADS>();
    set_register_count<PRODUCER_REGISTERS, LAUNCH_REGISTERS>();
    await_earlier_launches();
    bool has_tile = is_producer && producer.begin_tile(queue, schedule.k_tiles);
    if constexpr (SHARES) await_cluster();  // its loads arrive at barriers of other blocks
    if (is_producer) {
      for (; has_tile; has_tile = producer.begin_tile(queue, schedule.k_tiles)) producer.load();
      allow_next_launch();  // earlier, its blocks would take the places of this one's
      producer.finish();
    }
    __syncwarp();
    if constexpr (CLUSTER_K > 1) {
      await_cluster();
      sync_cluster();  // as add_up_cluster
    }
  } else {
    set_register_count<CONSUMER_REGISTERS, LAUNCH_REGISTERS>();
    await_earlier_launches();
    if constexpr (CLUSTER > 1) {
      await_cluster();
    } else {
      sync_block<THREADS>();
    }
    const int first_row = PING_PONG ? 0 : consumer * PARTS * 64;  // in the tile
    const int lane = thread % 32;
    const int rank_m = SHARES ? rank / CLUSTER_N : 0, rank_n = SHARES ? rank % CLUSTER_N : 0;
    // The block to whose producer a lane says that a stage has been read: first those that use the
    // same rows, then the others that use the same columns.
    const int other_m = lane - CLUSTER_N + (lane - CLUSTER_N >= rank_m ? 1 : 0);
    const int told = lane < CLUSTER_N ? rank_m * CLUSTER_N + lane : other_m * CLUSTER_N + rank_n;
    const auto release = [&](int stage) {
      __syncwarp();
      if constexpr (SHARES) {
        if (lane < PEERS) arrive_at_rank(empty + 8 * stage, told);
      } else {
        if (lane == 0) arrive(empty + 8 * stage);
      }
    };

    // The sums that a warpgroup stores, to be added to those of other splits.
    constexpr int VECTORS = TILE_N / CLUSTER_K / 8;
    using Splits = SplitSums<S, 4, PARTS * VECTORS, WARPGROUP>;
    const int part = rank * TEAM + (PING_PONG ? 0 : consumer);
    const auto splits_of = [&](int tile, int count) {
      const int words = SplitProgress::COUNTERS + ceil_div(splits, 32);
      unsigned* const progress =
          arrivals + (static_cast<long long>(tile) * CLUSTER * TEAM + part) * words;
      return Splits{partials + part * Splits::SIZE,
                    CLUSTER * TEAM * Splits::SIZE,
                    {progress, count, Splits::slices(count)},
                    flags + 2 * consumer};
    };

    typename Groups::Work work;
    RingPosition<STAGES> at;
    // PING_PONG: a consumer begins when the one before it has all its k-tiles. Else a stage could
    // be two phases away, which the parity does not tell from the present one.
    Staging output{staging + consumer * Staging::BYTES, map_c, 1 + consumer};
    int turn = 0;
    unsigned turn_parity = consumer == 0 ? 1 : 0;  // the first to begin waits for nobody
    while (queue.next(work)) {
      if constexpr (CLUSTER_K > 1) take_share(work, rank, CLUSTER_K, schedule.k_tiles);
      if constexpr (PING_PONG) {
        const bool is_mine = turn == consumer;
        turn = turn + 1 < CONSUMERS ? turn + 1 : 0;
        if (!is_mine) {
          at.advance(work.end - work.begin);
          continue;
        }
        await_phase(turns + 8 * consumer, turn_parity);
        turn_parity ^= 1;
      }
      if constexpr (SPLIT_K) {
        if (work.splits > 1) splits_of(work.tile, work.splits).begin();
      }
      using Sums = Accumulators<TILE_N, S>[PARTS];
      Sums sum;
      WarpgroupProducts products;
      const auto begin_k_tile = [&](Sums& sum, bool is_first) {
        await_phase(full + 8 * at.stage, at.parity);
        const unsigned from = stages + at.stage * STAGE_BYTES;
        const unsigned long long row_operand = Rows::descriptor(from, first_row);
        const unsigned long long column_operand = Columns::descriptor(from + Rows::BYTES, 0);
        products.begin();
#pragma unroll
        for (int k = 0; k < TILE_K; k += PRODUCT_DEPTH<T>) {
#pragma unroll
          for (int part = 0; part < PARTS; ++part) {
            products.multiply<T, Rows::IS_K_MAJOR, Columns::IS_K_MAJOR>(
                sum[part], row_operand + Rows::offset(64 * part, k),
                column_operand + Columns::offset(0, k), !is_first || k > 0);
          }
        }
        products.commit();
        const int stage = at.stage;
        at.advance();
        return stage;
      };
      unsigned begun = 0;  // splits of the tile
      const auto last_has_begun = [&] {
        if constexpr (SPLIT_K) {
          if (work.splits > 1) begun = splits_of(work.tile, work.splits).begun();
        }
        if constexpr (PING_PONG) {
          __syncwarp();
          if (lane == 0) arrive(turns + 8 * (consumer + 1 < CONSUMERS ? consumer + 1 : 0));
        }
      };
      if constexpr (PROMOTED) {
        constexpr int NEEDED = 3 * PARTS * (TILE_N / 2) + (SPLIT_K ? 72 : 32);
        promote_k_tiles<(NEEDED <= CONSUMER_REGISTERS)>(sum, work.end - work.begin, products,
                                                        begin_k_tile, release, last_has_begun);
      } else {
        sum_k_tiles(sum, work.end - work.begin, products, begin_k_tile, release, last_has_begun);
      }

      const auto store = [&](Accumulators<TILE_N / CLUSTER_K, S>(&sum)[PARTS]) {
        const long long offset = groups.offset(work, stride_c, ldc);
        const int rows = SWAP ? N : groups.rows(work, M), columns = SWAP ? groups.rows(work, M) : N;
        const TensorOutput<TC, S, SWAP> c{C + offset, rows, columns, ldc, alpha, beta};
        const What what{bias, RESIDUAL ? residual + offset : residual};
        const int row0 = (work.m * CLUSTER_M + rank_m) * TILE_M + first_row;
        const int column0 = (work.n * CLUSTER_N + rank_n) * TILE_N +
                            (CLUSTER_K > 1 ? rank * (TILE_N / CLUSTER_K) : 0);
        if constexpr (SPLIT_K) {
          if (work.splits > 1) {
            splits_of(work.tile, work.splits)
                .reduce(
                    work.split, queue.is_empty(), begun,
                    [&](int i) { return &sum[i / VECTORS].at[4 * (i % VECTORS)]; },
                    [&](int split) { return work.slot(split); },
                    [&] { sync_warpgroup(1 + consumer); },
                    StoreTotals<VECTOR_C, TILE_N / CLUSTER_K, TC, S, SWAP, What>{c, what, row0,
                                                                                 column0});
            return;
          }
        }
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
          c.apply_factors(sum[part], row0 + 64 * part, column0);
          c.apply(what, sum[part], row0 + 64 * part, column0);
          if constexpr (STORE_BUFFERS > 0) {
            output.store_product(sum[part], c, row0 + 64 * part, column0, work.batch);
          } else {
            store_product<VECTOR_C>(sum[part], c, row0 + 64 * part, column0);
          }
        }
      };
      if constexpr (CLUSTER_K > 1) {
        // The last k-tile of this block has been read by all consumers: its stages are free.
        sync_consumers<CONSUMERS>();
        Accumulators<TILE_N / CLUSTER_K, S> own[PARTS];
        add_up_cluster<CLUSTER_K>(sum, own, stages + consumer * (PARTS * 64 * TILE_N * 4), rank);
        store(own);
      } else {
        store(sum);
      }
    }
    if constexpr (STORE_BUFFERS > 0) output.finish();
  }
  if constexpr (CLUSTER_K > 1) sync_cluster();  // others read the sums of this block
}

template <class T, class TC, bool TRANS_A, bool TRANS_B, bool SWAP, int TILE_M, int TILE_N,
          int PANELS, int CONSUMERS, bool PING_PONG, int STAGES, int CLUSTER_M, int CLUSTER_N,
          int CLUSTER_K, int EVICT_FIRST, bool SPLIT_K, int VECTOR_C, int STORE_BUFFERS,
          int MIN_BLOCKS, bool PROMOTED, int BIAS, int ACTIVATION, bool RESIDUAL>
__global__ void CLUSTER_DIMENSIONS __launch_bounds__(WARPGROUP*(CONSUMERS + 1), MIN_BLOCKS)
    gemm_wgmma(int M, int N, int K, Sum<T> alpha, Sum<T> beta, int batches, int splits,
               int streamed, int group_m, TC* C, int ldc, long long stride_c, const TC* bias,
               const TC* residual, Sum<T>* partials, unsigned* arrivals,
               const __grid_constant__ TensorMap3 map_a, const __grid_constant__ TensorMap3 map_b,
               const __grid_constant__ TensorMap3 map_c) {
  multiply_tiles<T, TC, TRANS_A, TRANS_B, SWAP, TILE_M, TILE_N, PANELS, CONSUMERS, PING_PONG,
                 STAGES, CLUSTER_M, CLUSTER_N, CLUSTER_K, EVICT_FIRST, SPLIT_K, VECTOR_C,
                 STORE_BUFFERS, MIN_BLOCKS, PROMOTED, BIAS, ACTIVATION, RESIDUAL>(
      WholeMatrices(), M, N, K, alpha, beta, C, ldc, stride_c, bias, residual, batches, splits,
      streamed, group_m, partials, arrivals, map_a, map_b, map_c);
}
