// SPDX-License-Identifier: Apache-2.0
// C = f(alpha * op(A) * op(B) + beta * C + bias + residual), row-major, on the tensor cores of
// compute capability 10.0 and 10.3: operands of bf16 and f16 in every layout, of tf32, e4m3 and
// int8 contiguous along K; sums in single precision, of int8 in 32-bit integers, in tensor memory.
//
// One thread loads k-tiles into a ring of stages by TMA, one begins their products by tcgen05, and
// four warps store C. BUFFERS == 2: sums of two tiles are in tensor memory, so that one is stored
// while the other is computed. A block computes one tile after the other.
//
// With SWAP the transpose of C is computed, op(B)' * op(A)': the instruction has 64 or 128 rows but
// as few as 8 columns, so small M belongs there. Below, rows and columns are those of the computed
// product.
//
// Grid (blocks), block (192). Any M, N, K; operands whose rows start on 16 bytes. As in BLAS,
// alpha == 0 reads neither A nor B, and beta == 0 does not read C.
//
// Template parameters: the space file. Design: docs/reference/kernels.md.

#include "common/async_barrier.cuh"
#include "common/dependent_launch.cuh"
#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/shared_memory.cuh"
#include "common/tcgen05.cuh"
#include "mma_epilogue.cuh"
#include "tensor_operand.cuh"
#include "tensor_producer.cuh"
#include "tensor_work.cuh"

template <class T, class TC, bool TRANS_A, bool TRANS_B, bool SWAP, int TILE_M, int TILE_N,
          int PANELS, int STAGES, int BUFFERS, int EVICT_FIRST, int VECTOR_C, int MIN_BLOCKS,
          int BIAS, int ACTIVATION, bool RESIDUAL>
__global__ void __launch_bounds__(192, MIN_BLOCKS)
    gemm_tcgen05(int M, int N, int K, Sum<T> alpha, Sum<T> beta, int batches, int group_m, TC* C,
                 int ldc, long long stride_c, const TC* bias, const TC* residual,
                 const __grid_constant__ TensorMap3 map_a,
                 const __grid_constant__ TensorMap3 map_b) {
  using S = Sum<T>;
  constexpr int TILE_K = PANELS * (128 / static_cast<int>(sizeof(T)));
  constexpr int EXTENT = TILE_M < 128 ? 64 : 128;  // rows of an instruction
  constexpr int PARTS = TILE_M / EXTENT;           // of a tile, side by side in tensor memory
  constexpr int COLUMNS = allocated_columns(BUFFERS * PARTS * TILE_N);
  static_assert(TILE_M == PARTS * EXTENT && COLUMNS <= TENSOR_COLUMNS);
  using Rows = TensorOperand<T, SWAP ? TRANS_B : !TRANS_A, TILE_M, TILE_K, 1, EVICT_FIRST == 1>;
  using Columns = TensorOperand<T, SWAP ? !TRANS_A : TRANS_B, TILE_N, TILE_K, 1, EVICT_FIRST == 2>;
  using Producer = TensorProducer<Rows, Columns, WholeMatrices, SWAP, STAGES, 1>;

  const unsigned stages = shared_address(dynamic_shared());
  const unsigned full = stages + STAGES * Producer::STAGE_BYTES;  // a barrier for each stage
  const unsigned empty = full + 8 * STAGES;
  const unsigned computed = empty + 8 * STAGES;  // a barrier for each buffer of sums
  const unsigned stored = computed + 8 * BUFFERS;
  const unsigned address_at = stored + 8 * BUFFERS;

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int STORING = 4;  // warps, the first ones: each has 32 lanes of tensor memory
  constexpr int LOADING = STORING, MULTIPLYING = STORING + 1;  // warps
  if (warp == MULTIPLYING) {
    allocate_tensor_memory<COLUMNS>(address_at);
    if (lane == 0) {
      prefetch_map(map_a);
      prefetch_map(map_b);
      for (int stage = 0; stage < STAGES; ++stage) {
        init_barrier(full + 8 * stage, 1);
        init_barrier(empty + 8 * stage, 1);
      }
      for (int buffer = 0; buffer < BUFFERS; ++buffer) {
        init_barrier(computed + 8 * buffer, 1);
        init_barrier(stored + 8 * buffer, STORING);
      }
      publish_barriers();
    }
  }
  __syncthreads();
  const unsigned memory = tensor_memory_at(address_at);
  await_earlier_launches();

  const WholeMatrices whole;
  // Without alpha there are no k-tiles, and no products: sums of zero are stored.
  const bool has_products = alpha != S(0);
  const TensorSchedule schedule{ceil_div(SWAP ? N : M, TILE_M),
                                ceil_div(SWAP ? M : N, TILE_N),
                                batches,
                                1,
                                0,
                                group_m,
                                ceil_div(K, TILE_K)};
  TensorQueue queue(schedule, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), whole);
  if (warp == LOADING) {
    if (lane == 0 && has_products) {
      Producer producer(whole, SWAP ? map_b : map_a, SWAP ? map_a : map_b, stages, full, empty, 0);
      while (producer.begin_tile(queue, schedule.k_tiles)) producer.load();
      allow_next_launch();  // earlier, its blocks would take the places of this one's
    }
  } else if (warp == MULTIPLYING) {
    if (lane == 0 && has_products) {
      TensorProducts products;
      TensorWork work;
      RingPosition<STAGES> at;
      RingPosition<BUFFERS> buffer;
      while (queue.next(work)) {
        await_tensor_phase(stored + 8 * buffer.stage, buffer.parity ^ 1);
        const unsigned sums = memory + buffer.stage * (PARTS * TILE_N);
        for (int k_tile = work.begin; k_tile < work.end; ++k_tile) {
          await_tensor_phase(full + 8 * at.stage, at.parity);
          const unsigned from = stages + at.stage * Producer::STAGE_BYTES;
          const unsigned long long row_operand = Rows::descriptor(from, 0);
          const unsigned long long column_operand = Columns::descriptor(from + Rows::BYTES, 0);
#pragma unroll
          for (int k = 0; k < TILE_K; k += PRODUCT_DEPTH<T>) {
#pragma unroll
            for (int part = 0; part < PARTS; ++part) {
              products.multiply<T, Rows::IS_K_MAJOR, Columns::IS_K_MAJOR, EXTENT, TILE_N>(
                  sums + part * TILE_N, row_operand + Rows::offset(EXTENT * part, k),
                  column_operand + Columns::offset(0, k), k_tile > work.begin || k > 0);
            }
          }
          products.commit(empty + 8 * at.stage);
          at.advance();
        }
        products.commit(computed + 8 * buffer.stage);
        buffer.advance();
      }
    }
  } else {
    constexpr int CHUNK = TILE_N % 32 == 0 ? 32 : TILE_N % 16 == 0 ? 16 : 8;  // columns at a time
    constexpr int WARP_ROWS = EXTENT / STORING;
    using Output = MmaOutput<TC, S, VECTOR_C, BIAS, ACTIVATION, RESIDUAL>;
    TensorWork work;
    RingPosition<BUFFERS> buffer;
    while (queue.next(work)) {
      if (has_products) await_tensor_phase(computed + 8 * buffer.stage, buffer.parity);
      const long long offset = work.batch * stride_c;
      const Output c{C + offset, M,    N,    ldc,
                     alpha,      beta, bias, RESIDUAL ? residual + offset : residual};
      const unsigned sums = memory + buffer.stage * (PARTS * TILE_N);
#pragma unroll 1
      for (int first = 0; first < PARTS * TILE_N; first += CHUNK) {
        S sum[CHUNK] = {};
        if (has_products) load_sums(sum, sums + first);
        if (has_products && first + CHUNK == PARTS * TILE_N) {
          arrive_after_loads(stored + 8 * buffer.stage);
        }
        const int row = work.m * TILE_M + first / TILE_N * EXTENT + warp * WARP_ROWS + lane;
        const int column = work.n * TILE_N + first % TILE_N;
        if (lane < WARP_ROWS) {
          if constexpr (SWAP) {
#pragma unroll
            for (int i = 0; i < CHUNK; ++i) c.template store<1>({sum[i]}, column + i, row);
          } else {
#pragma unroll
            for (int i = 0; i < CHUNK; i += VECTOR_C) {
              S values[VECTOR_C];
#pragma unroll
              for (int v = 0; v < VECTOR_C; ++v) values[v] = sum[i + v];
              c.store(values, row, column + i);
            }
          }
        }
      }
      buffer.advance();
    }
  }
  __syncthreads();
  if (warp == MULTIPLYING) free_tensor_memory<COLUMNS>(memory);
}
