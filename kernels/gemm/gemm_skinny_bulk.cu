// SPDX-License-Identifier: Apache-2.0
// C = f(alpha * op(A) * op(B) + beta * C + bias + residual), row-major, where M (SHORT_M) or N is
// at most COLUMNS, on tensor cores: operands of 16 or 8 bits, contiguous along K, sums in single
// precision, of int8 in 32-bit integers. The time is that of reading the other, long operand once.
// The extent ("e" in names) is its long dimension: N with SHORT_M, else M.
//
// The short operand stays in registers: a cluster of CLUSTER blocks divides K, the WARPS warps of
// a block divide the block's part, and each warp keeps its slice of all rows of the short operand,
// STEPS * 64 bytes of each. So only the long operand is read again and again, by bulk copies of
// whole parts of rows, which read memory faster than copies of narrow tiles.
//
// The clusters divide the rows of the long operand evenly: each has `share` or one more. One more
// warp of a block loads the short operand and then GROUP rows of the long one at a time into a ring
// of stages. Every other warp multiplies its slice of a group. Each block adds its warps' sums and
// sends them to the block of the cluster that stores this part of C.
//
// A lane takes 16 bytes of a row for two products: which steps of K a lane has in a product is
// arbitrary, as long as it is the same in both operands.
//
// Grid (CLUSTER * clusters, 1, batch), block (32 * (WARPS + 1)), dynamic shared memory: the ring,
// two buffers of the warps' sums, the sums received from CLUSTER blocks, of `groups` groups, and
// 2 * STAGES + 1 barriers. share is floor(extent / clusters), groups is
// ceil(ceil(ceil(extent / clusters) / GROUP) / CLUSTER).

#include "common/bulk_copy.cuh"
#include "common/cluster.cuh"
#include "common/cluster_send.cuh"
#include "common/dependent_launch.cuh"
#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/mma.cuh"
#include "common/shared_memory.cuh"
#include "common/vector.cuh"
#include "common/warpgroup.cuh"
#include "epilogue.cuh"

// CLUSTER_BLOCKS: blocks of a cluster. A cluster of one is not launched as one.
#if CLUSTER_BLOCKS > 1
#define CLUSTER_DIMENSIONS __cluster_dims__(CLUSTER_BLOCKS)
#else
#define CLUSTER_DIMENSIONS
#endif

template <class T, class Result, bool SHORT_M, int COLUMNS, int STEPS, int TILES, int STAGES,
          int WARPS, int CLUSTER, int MIN_BLOCKS, int BIAS, int ACTIVATION, bool RESIDUAL>
__global__ void CLUSTER_DIMENSIONS __launch_bounds__(32 * (WARPS + 1), MIN_BLOCKS)
    gemm_skinny_bulk(int M, int N, int K, Sum<T> alpha, const T* A, int lda, const T* B, int ldb,
                     Sum<T> beta, Result* C, int ldc, long long stride_a, long long stride_b,
                     long long stride_c, const Result* bias, const Result* residual, int share,
                     int groups) {
  static_assert(CLUSTER == CLUSTER_BLOCKS);
  constexpr int THREADS = 32 * WARPS;  // that multiply
  constexpr int SIZE = static_cast<int>(sizeof(T));
  constexpr int GROUP = 8 * TILES;                           // rows of a stage
  constexpr int SLICE = 64 * STEPS;                          // bytes of a row per warp
  constexpr int PART = WARPS * SLICE;                        // per block
  constexpr int PITCH = PART % 128 == 0 ? PART + 64 : PART;  // two rows are in different banks
  constexpr int STAGE = GROUP * PITCH;
  constexpr int SHORT_ROWS = COLUMNS / 8, SHORT_TILES = (COLUMNS + 15) / 16;  // of a lane
  constexpr int SHORT_LOADS = (COLUMNS + GROUP - 1) / GROUP;
  constexpr int SUMS = COLUMNS * GROUP;  // of a group
  // Lanes that share the addition of the warps' sums of an element; their banks differ.
  constexpr int ADDERS = THREADS / SUMS < 1 ? 1 : THREADS / SUMS < WARPS ? THREADS / SUMS : WARPS;
  constexpr int PITCH_SUMS = SUMS + 32 / ADDERS;
  static_assert(SIZE <= 2 && (COLUMNS == 8 || COLUMNS % 16 == 0));
  using S = Sum<T>;
  using Words = Vector<unsigned, 4>;  // of elements

  unsigned char* const ring = dynamic_shared();
  S* const warp_sums = reinterpret_cast<S*>(ring + STAGES * STAGE);
  S* const received = warp_sums + 2 * WARPS * PITCH_SUMS;
  const unsigned full = shared_address(received + CLUSTER * groups * SUMS);  // for each stage
  const unsigned empty = full + 8 * STAGES;                                  // for each stage
  const unsigned all_received = empty + 8 * STAGES;

  const int thread = threadIdx.x;
  const int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
  if (thread == THREADS) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full + 8 * stage, 1);
      init_barrier(empty + 8 * stage, WARPS);
    }
    init_barrier(all_received, 1);
    publish_barriers();
  }
  __syncthreads();
  if constexpr (CLUSTER > 1) announce_to_cluster();

  const int extent = SHORT_M ? N : M;
  const int short_extent = SHORT_M ? M : N;
  // The cluster's part of the extent.
  const int rank = blockIdx.x % CLUSTER, cluster = blockIdx.x / CLUSTER;
  const int more = extent - share * static_cast<int>(gridDim.x / CLUSTER);
  const int begin_e = cluster * share + (cluster < more ? cluster : more);
  const int end_e = begin_e + share + (cluster < more ? 1 : 0);
  const int my_groups = ceil_div(end_e - begin_e, GROUP);
  // The block's part of a row, in bytes.
  const int begin = rank * PART;
  const int left = (alpha == S(0) ? 0 : K * SIZE) - begin;
  const int bytes = left < 0 ? 0 : left < PART ? left : PART;

  int stage = 0;
  unsigned phase = 0;
  const auto next_stage = [&] {
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1u;
    }
  };
  await_earlier_launches();

  if (warp == WARPS) {
    const T* const a = A + blockIdx.z * stride_a;
    const T* const b = B + blockIdx.z * stride_b;
    for (int load = -SHORT_LOADS; load < my_groups; ++load, next_stage()) {
      const bool is_short = load < 0, is_a = is_short == SHORT_M;
      const int first = is_short ? (load + SHORT_LOADS) * GROUP : begin_e + load * GROUP;
      const int end = is_short ? short_extent : end_e;
      const int rows = end - first < 0 ? 0 : end - first < GROUP ? end - first : GROUP;
      const T* const row =
          (is_a ? a : b) + static_cast<long long>(first + lane) * (is_a ? lda : ldb);
      const unsigned barrier = full + 8 * stage;
      await_phase(empty + 8 * stage, phase ^ 1u);
      if (lane == 0) arrive_expecting(barrier, rows * bytes);
      __syncwarp();
      if (lane < rows && bytes > 0) {
        copy_bulk(shared_address(ring + stage * STAGE + lane * PITCH),
                  reinterpret_cast<const unsigned char*>(row) + begin, bytes, barrier);
      }
    }
    allow_next_launch();
    if constexpr (CLUSTER > 1) await_cluster();
    return;
  }

  // The groups whose sums this block receives.
  const int begin_group = rank * groups < my_groups ? rank * groups : my_groups;
  const int end_group = begin_group + groups < my_groups ? begin_group + groups : my_groups;
  if (CLUSTER > 1 && thread == 0) {
    arrive_expecting(all_received, (end_group - begin_group) * SUMS * 4 * CLUSTER);
  }
  // What no copy writes is multiplied by zero, and must not be NaN.
  const int rest = (PART - bytes) / 16;
  if (rest > 0) {
    for (int i = thread; i < STAGES * GROUP * rest; i += THREADS) {
      *reinterpret_cast<Words*>(ring + i / rest * PITCH + bytes + i % rest * 16) = {};
    }
    sync_block<THREADS>();
  }
  // What this lane reads of a stage.
  const unsigned char* const mine = ring + warp * SLICE + g * PITCH + 16 * t;
  const auto release_stage = [&] {
    __syncwarp();
    if (lane == 0) arrive(empty + 8 * stage);
    next_stage();
  };

  Words kept[STEPS][SHORT_ROWS];
#pragma unroll
  for (int load = 0; load < SHORT_LOADS; ++load) {
    await_phase(full + 8 * stage, phase);
#pragma unroll
    for (int i = load * TILES; i < (load + 1) * TILES && i < SHORT_ROWS; ++i) {
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        kept[step][i] = *reinterpret_cast<const Words*>(mine + stage * STAGE +
                                                        8 * (i - load * TILES) * PITCH + 64 * step);
      }
    }
    release_stage();
  }
  if constexpr (CLUSTER > 1) await_cluster();  // before anything is sent

  int receiver = 0, slot = 0;  // the block that gets the sums of the group, and where
  for (int group = 0; group < my_groups; ++group) {
    await_phase(full + 8 * stage, phase);
    // Two sums of each element in turn: a product need not wait for the one before it.
    S sum[TILES][SHORT_TILES][2][4] = {};
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
      for (int tile = 0; tile < TILES; ++tile) {
        const Words words =
            *reinterpret_cast<const Words*>(mine + stage * STAGE + 8 * tile * PITCH + 64 * step);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const unsigned columns[2] = {words.at[2 * half], words.at[2 * half + 1]};
#pragma unroll
          for (int i = 0; i < SHORT_TILES; ++i) {
            const unsigned(&upper)[4] = kept[step][2 * i].at;
            unsigned operand[4] = {upper[2 * half], 0, upper[2 * half + 1], 0};
            if constexpr (COLUMNS > 8) {
              const unsigned(&lower)[4] = kept[step][2 * i + 1].at;
              operand[1] = lower[2 * half];
              operand[3] = lower[2 * half + 1];
            }
            if constexpr (OperandTypeOf<T>::value == OperandType::e4m3) {
              // The tensor core adds products with about 14 bits.
              S products[4] = {};
              multiply_16x8<T>(products, operand, columns);
#pragma unroll
              for (int j = 0; j < 4; ++j) sum[tile][i][half][j] += products[j];
            } else {
              multiply_16x8<T>(sum[tile][i][half], operand, columns);
            }
          }
        }
      }
    }
    release_stage();
    S* const buffer = warp_sums + group % 2 * WARPS * PITCH_SUMS;
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
#pragma unroll
      for (int i = 0; i < SHORT_ROWS; ++i) {
        const S(&halves)[2][4] = sum[tile][i / 2];
        *reinterpret_cast<Vector<S, 2>*>(buffer + warp * PITCH_SUMS + (8 * i + g) * GROUP +
                                         8 * tile + 2 * t) = {
            halves[0][i % 2 * 2] + halves[1][i % 2 * 2],
            halves[0][i % 2 * 2 + 1] + halves[1][i % 2 * 2 + 1]};
      }
    }
    sync_block<THREADS>();
    S* const to = received + (rank * groups + slot) * SUMS;
#pragma unroll
    for (int first = 0; first < SUMS; first += THREADS / ADDERS) {
      const int element = first + thread / ADDERS;
      S total = 0;
#pragma unroll
      for (int w = 0; w < WARPS; w += ADDERS) {
        total += buffer[(w + thread % ADDERS) * PITCH_SUMS + element];
      }
#pragma unroll
      for (int distance = 1; distance < ADDERS; distance *= 2) {
        total += __shfl_xor_sync(0xffffffffu, total, distance);
      }
      if (thread % ADDERS == 0) {
        if constexpr (CLUSTER > 1) {
          send_to_rank(shared_address(to + element), total, all_received, receiver);
        } else {
          to[element] = total;
        }
      }
    }
    if (++slot == groups) {
      slot = 0;
      ++receiver;
    }
  }

  if constexpr (CLUSTER > 1) {
    await_phase(all_received, 0);
  } else {
    sync_block<THREADS>();
  }
  const Epilogue<Result, BIAS, ACTIVATION, RESIDUAL> what{bias, residual};
  const int first_e = begin_e + begin_group * GROUP;
  const int last_e = begin_e + end_group * GROUP < end_e ? begin_e + end_group * GROUP : end_e;
  const int rows_e = last_e - first_e;
  for (int i = thread; i < short_extent * rows_e; i += THREADS) {
    const int row = SHORT_M ? i / rows_e : i % short_extent;
    const int e = SHORT_M ? i % rows_e : i / short_extent;
    const S* const sum = received + e / GROUP * SUMS + row * GROUP + e % GROUP;
    S total = sum[0];
#pragma unroll
    for (int from = 1; from < CLUSTER; ++from) total += sum[from * groups * SUMS];
    const int row_c = SHORT_M ? row : first_e + e, column_c = SHORT_M ? first_e + e : row;
    const long long offset = blockIdx.z * stride_c + static_cast<long long>(row_c) * ldc + column_c;
    S value = alpha * total;
    if (beta != S(0)) value += beta * static_cast<S>(C[offset]);
    if constexpr (!decltype(what)::IS_NONE) value = what.apply(value, row_c, column_c, offset);
    C[offset] = Result(value);
  }
}
