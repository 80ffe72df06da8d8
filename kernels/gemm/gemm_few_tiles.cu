// SPDX-License-Identifier: Apache-2.0
// C = f(alpha * op(A) * op(B) + beta * C + bias + residual), row-major, on the tensor cores of
// compute capability 9.0: as gemm_wgmma, for products of few tiles, where what comes before the
// first load and after the last product counts.
//
// A cluster has one tile, of which its blocks compute the products of a part of K each. One thread
// of a further warp loads k-tiles into a ring of stages by TMA, before the other warps are ready.
// Consumer warpgroups, which share the tile's rows, multiply k-tiles by wgmma. Each block sends its
// sums to the blocks that store them.
//
// With SWAP the transpose of C is computed, as in gemm_wgmma. Below, rows and columns are those of
// the computed product.
//
// Grid (DIVIDE * tiles, 1, batch), tiles column by column; block (128 * CONSUMERS + 32).
// Dynamic shared memory: the ring, the sums received and 2 * STAGES + 1 barriers. Any M and N;
// K of at least DIVIDE k-tiles; operands whose rows start on 16 bytes. As in BLAS,
// alpha == 0 reads neither A nor B, and beta == 0 does not read C.
//
// Template parameters: the space file. Design: docs/reference/kernels.md.

#include "cluster_sums.cuh"
#include "common/async_barrier.cuh"
#include "common/cluster.cuh"
#include "common/cluster_dimensions.cuh"
#include "common/cluster_send.cuh"
#include "common/dependent_launch.cuh"
#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/shared_memory.cuh"
#include "common/warpgroup.cuh"
#include "common/wgmma.cuh"
#include "tensor_epilogue.cuh"
#include "tensor_operand.cuh"
#include "tensor_sums.cuh"
#include "tensor_work.cuh"

template <class T, class TC, bool TRANS_A, bool TRANS_B, bool SWAP, int TILE_M, int TILE_N,
          int PANELS, int CONSUMERS, int STAGES, int DIVIDE, int EVICT_FIRST, int VECTOR_C,
          int MIN_BLOCKS, bool PROMOTED, int BIAS, int ACTIVATION, bool RESIDUAL>
__global__ void CLUSTER_DIMENSIONS __launch_bounds__(WARPGROUP* CONSUMERS + 32, MIN_BLOCKS)
    gemm_few_tiles(int M, int N, int K, Sum<T> alpha, Sum<T> beta, TC* C, int ldc,
                   long long stride_c, const TC* bias, const TC* residual,
                   const __grid_constant__ TensorMap3 map_a,
                   const __grid_constant__ TensorMap3 map_b) {
  static_assert(DIVIDE == CLUSTER_BLOCKS);
  constexpr int TILE_K = PANELS * (128 / static_cast<int>(sizeof(T)));
  constexpr int PARTS = TILE_M / (64 * CONSUMERS);  // of 64 rows, of a warpgroup
  constexpr int CONSUMING = WARPGROUP * CONSUMERS;  // threads
  constexpr int THREADS = CONSUMING + 32;
  static_assert(TILE_M % (64 * CONSUMERS) == 0, "a warpgroup has a multiple of 64 rows");
  static_assert(!PROMOTED || TILE_K == 128, "sums of 128 steps are promoted");
  using S = Sum<T>;
  using Rows = TensorOperand<T, SWAP ? TRANS_B : !TRANS_A, TILE_M, TILE_K, 1, EVICT_FIRST == 1>;
  using Columns = TensorOperand<T, SWAP ? !TRANS_A : TRANS_B, TILE_N, TILE_K, 1, EVICT_FIRST == 2>;
  using Exchange = ClusterSums<S, DIVIDE, PARTS*(TILE_N / 8), CONSUMING>;
  using What = Epilogue<TC, BIAS, ACTIVATION, RESIDUAL>;
  constexpr int STAGE_BYTES = Rows::BYTES + Columns::BYTES;

  const long long offset = blockIdx.z * stride_c;
  const What what{bias, RESIDUAL ? residual + offset : residual};
  if (alpha == S(0)) {
    await_earlier_launches();
    return scale_output(C + offset, M, N, ldc, 0, 1, beta, what);
  }

  unsigned char* const ring = dynamic_shared();
  unsigned char* const received = ring + STAGES * STAGE_BYTES;
  const unsigned stages = shared_address(ring);
  const unsigned full = shared_address(received + (DIVIDE > 1 ? Exchange::BYTES : 0));
  const unsigned empty = full + 8 * STAGES;          // both: a barrier for each stage
  const unsigned all_received = empty + 8 * STAGES;  // a barrier

  const int thread = threadIdx.x;
  const bool is_producer = thread == CONSUMING;
  if (is_producer) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full + 8 * stage, 1);
      init_barrier(empty + 8 * stage, 4 * CONSUMERS);
    }
    init_barrier(all_received, 1);
    publish_barriers();
  }
  if (thread == 0) prefetch_map(map_a);
  if (thread == 32) prefetch_map(map_b);
  __syncwarp();
  // Whoever waits for the cluster sees the barriers of all its blocks.
  if constexpr (DIVIDE > 1) announce_to_cluster();

  const int rows = SWAP ? N : M, columns = SWAP ? M : N;
  const int rank = static_cast<int>(blockIdx.x) % DIVIDE;
  const int tile = static_cast<int>(blockIdx.x) / DIVIDE;
  const int tiles_m = ceil_div(rows, TILE_M);
  const int row0 = tile % tiles_m * TILE_M, column0 = tile / tiles_m * TILE_N;
  const int k_tiles = ceil_div(K, TILE_K);
  const int begin = k_tiles * rank / DIVIDE, end = k_tiles * (rank + 1) / DIVIDE;
  RingPosition<STAGES> at;

  if (thread >= CONSUMING) {
    if constexpr (DIVIDE == 1) arrive_at_block<THREADS>();
    await_earlier_launches();
    if (is_producer) {
      const int batch = static_cast<int>(blockIdx.z);
      for (int k_tile = begin; k_tile < end; ++k_tile) {
        const unsigned to = stages + at.stage * STAGE_BYTES, barrier = full + 8 * at.stage;
        await_phase(empty + 8 * at.stage, at.parity ^ 1u);
        arrive_expecting(barrier, STAGE_BYTES);
        Rows::load(to, SWAP ? map_b : map_a, row0, k_tile * TILE_K, batch, barrier, 0, 1);
        Columns::load(to + Rows::BYTES, SWAP ? map_a : map_b, column0, k_tile * TILE_K, batch,
                      barrier, 0, 1);
        at.advance();
      }
      allow_next_launch();
    }
    __syncwarp();
    if constexpr (DIVIDE > 1) await_cluster();
    return;
  }

  await_earlier_launches();
  if constexpr (DIVIDE > 1) {
    await_cluster();
  } else {
    sync_block<THREADS>();
  }
  const Exchange exchange(received, all_received, rank);
  if constexpr (DIVIDE > 1) {
    if (thread == 0) exchange.expect();
  }
  const int first_row = thread / WARPGROUP * PARTS * 64;  // in the tile
  Accumulators<TILE_N, S> sum[PARTS];
  WarpgroupProducts products;
  const auto begin_k_tile = [&](Accumulators<TILE_N, S>(&sums)[PARTS], bool is_first) {
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
            sums[part], row_operand + Rows::offset(64 * part, k),
            column_operand + Columns::offset(0, k), !is_first || k > 0);
      }
    }
    products.commit();
    const int stage = at.stage;
    at.advance();
    return stage;
  };
  const auto release = [&](int stage) {
    __syncwarp();
    if (thread % 32 == 0) arrive(empty + 8 * stage);
  };
  const auto last_has_begun = [] {};
  if constexpr (PROMOTED) {
    constexpr int AVAILABLE = 65536 / (MIN_BLOCKS * THREADS) / 8 * 8;
    constexpr bool OVERLAPS = 3 * PARTS * (TILE_N / 2) + 32 <= (AVAILABLE < 255 ? AVAILABLE : 255);
    promote_k_tiles<OVERLAPS>(sum, end - begin, products, begin_k_tile, release, last_has_begun);
  } else {
    sum_k_tiles(sum, end - begin, products, begin_k_tile, release, last_has_begun);
  }

  const TensorOutput<TC, S, SWAP> c{C + offset, rows, columns, ldc, alpha, beta};
  if constexpr (DIVIDE > 1) {
    constexpr int VECTORS = TILE_N / 8;  // of a part
#pragma unroll
    for (int i = 0; i < PARTS * VECTORS; ++i) {
      exchange.send(i, &sum[i / VECTORS].at[4 * (i % VECTORS)]);
    }
    exchange.await();
    const StoreTotals<VECTOR_C, TILE_N, TC, S, SWAP, What> store{c, what, row0 + first_row,
                                                                 column0};
#pragma unroll
    for (int i = 0; i < Exchange::OWN; ++i) {
      if (i == exchange.count()) break;
      store(exchange.total(i).at, 4 * ((exchange.first() + i) * WARPGROUP + thread % WARPGROUP));
    }
  } else {
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      const int row = row0 + first_row + 64 * part;
      c.apply_factors(sum[part], row, column0);
      c.apply(what, sum[part], row, column0);
      store_product<VECTOR_C>(sum[part], c, row, column0);
    }
  }
}
