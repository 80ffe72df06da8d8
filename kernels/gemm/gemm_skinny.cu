// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C, as gemm_tiled.cu, where M or N is at most SHORT: what takes
// the time is to read the other operand once. SHORT_M says that it is M.
//
// A lane takes VEC neighbouring floats of the long operand at a time, UNROLL * PER of them before it
// computes with the UNROLL * PER before: neighbours along its extent where these are neighbours in
// memory, else along K, in which case the lanes' sums are added in the end. WARPS warps of a block
// lie side by side along the extent, WARPS_K share out K, as with SPLIT_K the grid's height in blocks does. The short operand's
// part of BATCHES such steps is kept in shared memory.
//
// Grid (ceil(extent / BLOCK_E), parts of K, batch), block (THREADS), dynamic shared memory
// 4 * SHORT * max(CHUNK, BLOCK_E) bytes; see below for BLOCK_E and CHUNK.

#include "split_k.cuh"
#include "vector.cuh"

/// `count` of WIDTH floats, and zeros for the rest.
template <int WIDTH>
__device__ __forceinline__ Floats<WIDTH> load_some(const float* from, int count) {
  if (count >= WIDTH) return *reinterpret_cast<const Floats<WIDTH>*>(from);
  Floats<WIDTH> some;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i) some.at[i] = i < count ? from[i] : 0.0f;
  return some;
}

/// The sum over the lanes of a warp, in all of them.
__device__ __forceinline__ float sum_of_lanes(float value) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

template <bool TRANS_A, bool TRANS_B, bool SHORT_M, int SHORT, int VEC, int PER, int UNROLL,
          int BATCHES, int WARPS, int WARPS_K, bool SPLIT_K, int MIN_BLOCKS>
__global__ void __launch_bounds__(32 * WARPS * WARPS_K, MIN_BLOCKS)
    gemm_skinny(int M, int N, int K, float alpha, const float* __restrict__ A, int lda,
                const float* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc,
                long long stride_a, long long stride_b, long long stride_c, float* partials,
                unsigned* arrivals) {
  constexpr bool ALONG_K = SHORT_M ? TRANS_B : !TRANS_A;  // the long operand is contiguous along K
  constexpr int THREADS = 32 * WARPS * WARPS_K;
  constexpr int SPAN = 32 * VEC;                         // floats a warp reads side by side
  constexpr int WARP_E = ALONG_K ? PER : PER * SPAN;     // of the extent that a warp takes
  constexpr int BLOCK_E = WARPS * WARP_E;
  constexpr int WARP_K = ALONG_K ? UNROLL * SPAN : UNROLL;  // of K that a warp takes in a step
  constexpr int STEP_K = WARPS_K * WARP_K;
  constexpr int CHUNK = BATCHES * STEP_K;  // of K that shared memory holds of the short operand
  constexpr int SUMS = ALONG_K ? PER : PER * VEC;  // of a thread, for each of SHORT

  extern __shared__ __align__(16) float shared[];

  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32 % WARPS;
  const int warp_k = threadIdx.x / 32 / WARPS;
  const int extent = SHORT_M ? N : M;
  const int shorts = SHORT_M ? M : N;
  const int block_e = blockIdx.x * BLOCK_E;
  const int first_e = block_e + warp * WARP_E + (ALONG_K ? 0 : lane * VEC);

  // This block's part of K, whole steps.
  const int depth = alpha == 0.0f ? 0 : K;
  const int parts = SPLIT_K ? gridDim.y : 1;
  const int part = ceil_div(ceil_div(depth, parts), STEP_K) * STEP_K;
  const int begin = blockIdx.y * part;
  const int end = depth - begin < part ? depth : begin + part;
  const int steps = end > begin ? (end - begin + STEP_K - 1) / STEP_K : 0;

  const float* const a = A + blockIdx.z * stride_a;
  const float* const b = B + blockIdx.z * stride_b;
  const float* const long_one = SHORT_M ? b : a;
  const long long long_ld = SHORT_M ? ldb : lda;
  const float* const short_one = SHORT_M ? a : b;
  constexpr bool SHORT_ALONG_K = SHORT_M ? !TRANS_A : TRANS_B;
  const long long short_ld = SHORT_M ? lda : ldb;

  struct Step {
    Floats<VEC> at[UNROLL][PER];
  };
  const auto read_long = [&](int step) {
    Step values;
    const int first_k = begin + step * STEP_K + warp_k * WARP_K + (ALONG_K ? lane * VEC : 0);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
      for (int p = 0; p < PER; ++p) {
        const int k = first_k + u * (ALONG_K ? SPAN : 1);
        const int e = first_e + p * (ALONG_K ? 1 : SPAN);
        const int count = ALONG_K ? (e < extent ? end - k : 0) : (k < end ? extent - e : 0);
        values.at[u][p] = load_some<VEC>(
            long_one + (ALONG_K ? e * long_ld + k : k * long_ld + e), count);
      }
    }
    return values;
  };
  const auto read_short = [&](int first_k) {
    for (int i = threadIdx.x; i < SHORT * CHUNK; i += THREADS) {
      const int r = SHORT_ALONG_K ? i / CHUNK : i % SHORT;
      const int k = SHORT_ALONG_K ? i % CHUNK : i / SHORT;
      const bool there = r < shorts && first_k + k < end;
      const long long place = SHORT_ALONG_K ? r * short_ld + (first_k + k)
                                            : (first_k + k) * short_ld + r;
      shared[ALONG_K ? r * CHUNK + k : k * SHORT + r] = there ? short_one[place] : 0.0f;
    }
  };

  float sum[SHORT][SUMS] = {};
  const auto accumulate = [&](const Step& values, int step_in_chunk) {
    const int first_k = step_in_chunk * STEP_K + warp_k * WARP_K;
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
      for (int r = 0; r < SHORT; ++r) {
        if constexpr (ALONG_K) {
          const auto factors = *reinterpret_cast<const Floats<VEC>*>(
              shared + r * CHUNK + first_k + u * SPAN + lane * VEC);
#pragma unroll
          for (int p = 0; p < PER; ++p) {
#pragma unroll
            for (int v = 0; v < VEC; ++v) sum[r][p] += factors.at[v] * values.at[u][p].at[v];
          }
        } else {
          const float factor = shared[(first_k + u) * SHORT + r];
#pragma unroll
          for (int p = 0; p < PER; ++p) {
#pragma unroll
            for (int v = 0; v < VEC; ++v) sum[r][p * VEC + v] += factor * values.at[u][p].at[v];
          }
        }
      }
    }
  };

  Step next = read_long(0);
  for (int step = 0; step < steps; ++step) {
    if (step % BATCHES == 0) {
      __syncthreads();
      read_short(begin + step * STEP_K);
      __syncthreads();
    }
    const Step now = next;
    next = read_long(step + 1);
    accumulate(now, step % BATCHES);
  }

  // The block's tile, SHORT rows of BLOCK_E: the warps that share K add to it one after another.
  if constexpr (ALONG_K) {
#pragma unroll
    for (int r = 0; r < SHORT; ++r) {
#pragma unroll
      for (int p = 0; p < PER; ++p) sum[r][p] = sum_of_lanes(sum[r][p]);
    }
  }
#pragma unroll 1
  for (int turn = 0; turn < WARPS_K; ++turn) {
    __syncthreads();
    if (turn != warp_k || (ALONG_K && lane != 0)) continue;
#pragma unroll
    for (int r = 0; r < SHORT; ++r) {
#pragma unroll
      for (int i = 0; i < SUMS; ++i) {
        const int e = first_e - block_e + (ALONG_K ? i : i / VEC * SPAN + i % VEC);
        float* const at = shared + r * BLOCK_E + e;
        *at = turn == 0 ? sum[r][i] : *at + sum[r][i];
      }
    }
  }
  __syncthreads();

  // A thread's elements of the tile, in the order in which neighbours are neighbours in C.
  constexpr int COUNT = ceil_div(SHORT * BLOCK_E, THREADS);
  float mine[COUNT];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int index = threadIdx.x + i * THREADS;
    const int r = SHORT_M ? index / BLOCK_E : index % SHORT;
    const int e = SHORT_M ? index % BLOCK_E : index / SHORT;
    mine[i] = index < SHORT * BLOCK_E ? shared[r * BLOCK_E + e] : 0.0f;
  }
  if constexpr (SPLIT_K) {
    const long long tile = static_cast<long long>(blockIdx.z) * gridDim.x + blockIdx.x;
    if (!sum_of_splits<THREADS, 0>(mine, partials, arrivals, tile, blockIdx.y, gridDim.y,
                                   threadIdx.x)) {
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int index = threadIdx.x + i * THREADS;
    const int r = SHORT_M ? index / BLOCK_E : index % SHORT;
    const int e = block_e + (SHORT_M ? index % BLOCK_E : index / SHORT);
    if (index >= SHORT * BLOCK_E || r >= shorts || e >= extent) continue;
    float* const c = C + blockIdx.z * stride_c +
                     (SHORT_M ? static_cast<long long>(r) * ldc + e
                              : static_cast<long long>(e) * ldc + r);
    *c = beta == 0.0f ? alpha * mine[i] : alpha * mine[i] + beta * *c;
  }
}
