// SPDX-License-Identifier: Apache-2.0
// C = f(alpha * op(A) * op(B) + beta * C + bias + residual), row-major, where M (SHORT_M) or N is
// at most COLUMNS, on tensor cores: operands of 16 or 8 bits, contiguous along K, sums in single
// precision, of int8 in 32-bit integers. The time is that of reading the other, long operand once.
// The extent ("e" in names) is its long dimension: N with SHORT_M, else M.
//
// The long operand is the first one of the products. Which steps of K a lane has in a product is
// arbitrary, as long as it is the same in both operands. So a lane takes 16 bytes of a row for two
// products, and no lane needs what another one loads: each copies its
// own vectors to a ring of STAGES steps in shared memory, by cp.async, and reads them back. There
// is no barrier before the end, and the ring holds as many bytes in flight as memory needs to be
// busy.
//
// A step is UNROLL * 64 bytes of K of TILES * 16 rows of the long operand and of COLUMNS rows of
// the short one. A block has WARPS warps along the extent and WARPS_K along K; with SPLIT_K the
// blocks in y divide K. Rows beyond an operand are replaced by its last one, and their sums not
// stored.
//
// Grid (ceil(extent / BLOCK_E), parts of K, batch), block (THREADS), dynamic shared memory
// max(the ring, COLUMNS * WARPS_K * BLOCK_E sums); the constants are below.

#include "common/async_copy.cuh"
#include "common/dependent_launch.cuh"
#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/mma.cuh"
#include "common/vector.cuh"
#include "epilogue.cuh"
#include "split_sums.cuh"

template <class T, class Result, bool SHORT_M, int COLUMNS, int TILES, int UNROLL, int STAGES,
          int WARPS, int WARPS_K, bool SPLIT_K, int MIN_BLOCKS, int BIAS, int ACTIVATION,
          bool RESIDUAL>
__global__ void __launch_bounds__(32 * WARPS * WARPS_K, MIN_BLOCKS)
    gemm_skinny_mma(int M, int N, int K, Sum<T> alpha, const T* A, int lda, const T* B, int ldb,
                    Sum<T> beta, Result* C, int ldc, long long stride_a, long long stride_b,
                    long long stride_c, const Result* bias, const Result* residual,
                    Sum<T>* partials, unsigned* arrivals) {
  constexpr int THREADS = 32 * WARPS * WARPS_K;
  constexpr int WARP_E = 16 * TILES;  // part of the extent per warp
  constexpr int BLOCK_E = WARPS * WARP_E;
  constexpr int SIZE = static_cast<int>(sizeof(T));
  constexpr int VECTOR_K = 64 / SIZE;        // steps of K that the four lanes of a row have
  constexpr int WARP_K = UNROLL * VECTOR_K;  // part of K per warp and step
  constexpr int STEP_K = WARPS_K * WARP_K;
  constexpr int LONG_ROWS = 2 * TILES, SHORT_ROWS = COLUMNS / 8;  // of a lane
  constexpr int ROWS = LONG_ROWS + SHORT_ROWS;
  static_assert(SIZE <= 2 && COLUMNS % 8 == 0 && STAGES >= 2);
  using S = Sum<T>;
  using Words = Vector<unsigned, 4>;  // of elements

  extern __shared__ __align__(16) unsigned char shared[];
  S* const sums = reinterpret_cast<S*>(shared);  // after the loop

  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int warp = threadIdx.x / 32 % WARPS;
  const int warp_k = threadIdx.x / 32 / WARPS;
  const int extent = SHORT_M ? N : M;
  const int short_extent = SHORT_M ? M : N;
  const int block_e = blockIdx.x * BLOCK_E;

  // This block's part of K: a whole number of steps.
  const int depth = alpha == S(0) ? 0 : K;
  const int parts = SPLIT_K ? gridDim.y : 1;
  const int part = ceil_div(ceil_div(depth, parts), STEP_K) * STEP_K;
  const int begin = blockIdx.y * part;
  const int end = depth - begin < part ? depth : begin + part;
  const int steps = end > begin ? ceil_div(end - begin, STEP_K) : 0;

  // A lane's first vector of each of its rows: those of the long operand, then of the short one.
  const int first_k = begin + warp_k * WARP_K + 16 / SIZE * t;
  const T* first[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const bool is_long = i < LONG_ROWS;
    const int row = is_long ? block_e + warp * WARP_E + 8 * i + g : 8 * (i - LONG_ROWS) + g;
    const int last = (is_long ? extent : short_extent) - 1;
    const bool is_of_a = is_long != SHORT_M;
    first[i] = (is_of_a ? A + blockIdx.z * stride_a : B + blockIdx.z * stride_b) +
               static_cast<long long>(row < last ? row : last) * (is_of_a ? lda : ldb) + first_k;
  }

  Words* const ring =
      reinterpret_cast<Words*>(shared) + threadIdx.x / 32 * (STAGES * UNROLL * ROWS * 32) + lane;
  AsyncCopies copies;
  const auto fetch = [&](int step, int stage) {
    if (step < steps) {
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const int offset = step * STEP_K + u * VECTOR_K;
        const int left = SIZE * (end - first_k - offset);  // bytes
        const int bytes = left < 0 ? 0 : left < 16 ? left : 16;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
          Words* const to = ring + ((stage * UNROLL + u) * ROWS + i) * 32;
          if (i < LONG_ROWS) {
            copies.copy<CopyCache::l2_by_256>(to, first[i] + offset, bytes);
          } else {
            copies.copy<CopyCache::l1>(to, first[i] + offset, bytes);
          }
        }
      }
    }
    copies.commit();
  };

  await_earlier_launches();
  constexpr int COUNT = ceil_div(COLUMNS * BLOCK_E, THREADS);  // sums of a thread after the loop
  const long long tile = static_cast<long long>(blockIdx.z) * gridDim.x + blockIdx.x;
  using Splits = SplitSums<S, 1, COUNT, THREADS>;
  __shared__ unsigned flags[2];
  const Splits split_sums{
      partials + tile * gridDim.y * Splits::SIZE,
      Splits::SIZE,
      {arrivals + tile * (SplitProgress::COUNTERS + ceil_div(static_cast<int>(gridDim.y), 32)),
       static_cast<int>(gridDim.y), Splits::slices(gridDim.y)},
      flags};
  if constexpr (SPLIT_K) split_sums.begin();
  // Two sums of each element in turn: a product need not wait for the one before it.
  S sum[TILES][SHORT_ROWS][2][4] = {};
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step, step);
  int stage = 0;
  for (int step = 0; step < steps; ++step) {
    copies.await<STAGES - 2>();
    const int emptied = stage == 0 ? STAGES - 1 : stage - 1;
    fetch(step + STAGES - 1, emptied);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      Words words[ROWS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) words[i] = ring[((stage * UNROLL + u) * ROWS + i) * 32];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int tile = 0; tile < TILES; ++tile) {
          const unsigned(&upper)[4] = words[2 * tile].at, (&lower)[4] = words[2 * tile + 1].at;
          const unsigned rows[4] = {upper[2 * half], lower[2 * half], upper[2 * half + 1],
                                    lower[2 * half + 1]};
#pragma unroll
          for (int j = 0; j < SHORT_ROWS; ++j) {
            const unsigned(&column)[4] = words[LONG_ROWS + j].at;
            const unsigned columns[2] = {column[2 * half], column[2 * half + 1]};
            if constexpr (OperandTypeOf<T>::value == OperandType::e4m3) {
              // The tensor core adds products with about 14 bits.
              S products[4] = {};
              multiply_16x8<T>(products, rows, columns);
#pragma unroll
              for (int i = 0; i < 4; ++i) sum[tile][j][half][i] += products[i];
            } else {
              multiply_16x8<T>(sum[tile][j][half], rows, columns);
            }
          }
        }
      }
    }
    stage = stage + 1 < STAGES ? stage + 1 : 0;
  }
  unsigned begun = 0;
  if constexpr (SPLIT_K) begun = split_sums.begun();
  allow_next_launch();  // earlier, its blocks would take the places of this one's
  copies.await<0>();

  // Sums over the warps along K, through shared memory. The block's tile is COLUMNS x BLOCK_E;
  // neighbouring threads get neighbouring elements of C.
  __syncthreads();
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
#pragma unroll
    for (int j = 0; j < SHORT_ROWS; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = 8 * j + 2 * t + i % 2;
        const int e = warp * WARP_E + 16 * tile + 8 * (i / 2) + g;
        sums[(warp_k * COLUMNS + column) * BLOCK_E + e] = sum[tile][j][0][i] + sum[tile][j][1][i];
      }
    }
  }
  __syncthreads();
  const auto column_of = [](int index) { return SHORT_M ? index / BLOCK_E : index % COLUMNS; };
  const auto e_of = [](int index) { return SHORT_M ? index % BLOCK_E : index / COLUMNS; };
  S mine[COUNT];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int index = threadIdx.x + i * THREADS;
    mine[i] = 0;
    if (index < COLUMNS * BLOCK_E) {
#pragma unroll
      for (int w = 0; w < WARPS_K; ++w) {
        mine[i] += sums[(w * COLUMNS + column_of(index)) * BLOCK_E + e_of(index)];
      }
    }
  }
  const Epilogue<Result, BIAS, ACTIVATION, RESIDUAL> what{bias, residual};
  const auto store = [&](S sum, int index) {
    const int column = column_of(index), e = block_e + e_of(index);
    if (index >= COLUMNS * BLOCK_E || column >= short_extent || e >= extent) return;
    const int row_c = SHORT_M ? column : e, column_c = SHORT_M ? e : column;
    const long long offset = blockIdx.z * stride_c + static_cast<long long>(row_c) * ldc + column_c;
    S value = alpha * sum;
    if (beta != S(0)) value += beta * static_cast<S>(C[offset]);
    if constexpr (!decltype(what)::IS_NONE) value = what.apply(value, row_c, column_c, offset);
    C[offset] = Result(value);
  };
  if constexpr (SPLIT_K) {
    split_sums.reduce(
        blockIdx.y, true, begun, [&](int i) { return &mine[i]; }, [](int split) { return split; },
        [] { __syncthreads(); }, [&](const S(&total)[1], int index) { store(total[0], index); });
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) store(mine[i], threadIdx.x + i * THREADS);
  }
}
