// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C, as gemm_tiled.cu, where M (SHORT_M) or N is at most SHORT.
// The time is that of reading the other, long operand once. The extent ("e" in names) is its long
// dimension: N with SHORT_M, else M.
//
// A lane loads vectors of VEC elements of the long operand, along its extent if it is contiguous
// there, else along K (ALONG_K); then the sums of the lanes are added at the end. A step of the
// loop is UNROLL * VECTORS vectors per lane; with PREFETCH the next step is prefetched, else other
// warps hide the latency. A block has WARPS warps along the extent and WARPS_K along K. With
// SPLIT_K the blocks in y divide K. Shared memory holds the short operand for STAGED_STEPS steps;
// with STAGED_STEPS == 0 each lane reads it from the cache, without barriers.
//
// Grid (ceil(extent / BLOCK_E), parts of K, batch), block (THREADS), dynamic shared memory
// max(SHORT * STAGED_STEPS * STEP_K elements, ROWS * WARPS_K * BLOCK_E sums); the constants are
// below.

#include "common/element.cuh"
#include "common/integers.cuh"
#include "common/vector.cuh"
#include "split_k.cuh"

/// Loads floats that are read only once, without allocating them in L1.
template <int WIDTH>
__device__ __forceinline__ Floats<WIDTH> load_once(const float* from) {
#ifdef __CUDA_ARCH__
  Floats<WIDTH> read;
  if constexpr (WIDTH == 4) {
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(read.at[0]), "=f"(read.at[1]), "=f"(read.at[2]), "=f"(read.at[3])
        : "l"(from));
  } else if constexpr (WIDTH == 2) {
    asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];"
        : "=f"(read.at[0]), "=f"(read.at[1])
        : "l"(from));
  } else {
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(read.at[0]) : "l"(from));
  }
  return read;
#else
  return *reinterpret_cast<const Floats<WIDTH>*>(from);
#endif
}

/// Loads other elements once: as words, where they fill some.
template <int WIDTH, class T>
__device__ __forceinline__ Vector<T, WIDTH> load_once(const T* from) {
  constexpr int WORDS = WIDTH * sizeof(T) / 4;
  if constexpr (WORDS > 0) {
    union {
      Floats<WORDS> words;
      Vector<T, WIDTH> vector;
    } read = {load_once<WORDS>(reinterpret_cast<const float*>(from))};
    return read.vector;
  } else {
    return *reinterpret_cast<const Vector<T, WIDTH>*>(from);
  }
}

/// Loads the first `count` of WIDTH elements; the others are zero.
template <int WIDTH, class T>
__device__ __forceinline__ Vector<T, WIDTH> load_some(const T* from, int count) {
  if (count >= WIDTH) return load_once<WIDTH>(from);
  Vector<T, WIDTH> some;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i) some.at[i] = i < count ? from[i] : T(0);
  return some;
}

/// Calls `what(i, j)` for i < ROWS and j < COLUMNS, unrolled.
template <int ROWS, int COLUMNS, class What>
__device__ __forceinline__ void for_each(const What& what) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) what(i, j);
  }
}

/// Sums each of COUNT values, a power of two, over 2 * DISTANCE lanes. Two lanes that are DISTANCE
/// lanes apart exchange half of their values, and each continues with the other half while it has
/// more than one value: 31 shuffles for 32 values instead of five for each. Afterwards the first
/// `lane_sums<COUNT>` values of a lane are the sums from number `first_lane_sum<COUNT>` on.
template <int COUNT, int DISTANCE = 16, class T>
__device__ __forceinline__ void add_lanes(T* values, int lane) {
  constexpr int HALF = COUNT > 1 ? COUNT / 2 : 1;
  const bool upper = COUNT > 1 && (lane & DISTANCE) != 0;
#pragma unroll
  for (int i = 0; i < HALF; ++i) {
    const T sent = upper ? values[i] : values[COUNT - HALF + i];
    const T kept = upper ? values[COUNT - HALF + i] : values[i];
    values[i] = kept + __shfl_xor_sync(0xffffffffu, sent, DISTANCE);
  }
  if constexpr (DISTANCE > 1) add_lanes<HALF, DISTANCE / 2>(values, lane);
}
template <int COUNT>
constexpr int lane_sums = COUNT < 32 ? 1 : COUNT / 32;
template <int COUNT>
constexpr int lanes_of_sum = COUNT < 32 ? 32 / COUNT : 1;  // neighbouring lanes with the same sum
template <int COUNT>
__device__ __forceinline__ int first_lane_sum(int lane) {
  return lane / lanes_of_sum<COUNT> * lane_sums<COUNT>;
}

template <class T, class Result, bool TRANS_A, bool TRANS_B, bool SHORT_M, int SHORT, int VEC,
          int VECTORS, int UNROLL, int PREFETCH, int STAGED_STEPS, int WARPS, int WARPS_K,
          bool SPLIT_K, int MIN_BLOCKS>
__global__ void __launch_bounds__(32 * WARPS * WARPS_K, MIN_BLOCKS)
    gemm_skinny(int M, int N, int K, Sum<T> alpha, const T* __restrict__ A, int lda,
                const T* __restrict__ B, int ldb, Sum<T> beta, Result* __restrict__ C, int ldc,
                long long stride_a, long long stride_b, long long stride_c, Sum<T>* partials,
                unsigned* arrivals) {
  constexpr bool ALONG_K = SHORT_M ? TRANS_B : !TRANS_A;  // the long operand is contiguous along K
  constexpr int THREADS = 32 * WARPS * WARPS_K;
  constexpr int SPAN = 32 * VEC;                              // elements that a warp loads at once
  constexpr int WARP_E = ALONG_K ? VECTORS : VECTORS * SPAN;  // part of the extent per warp
  constexpr int BLOCK_E = WARPS * WARP_E;
  constexpr int WARP_K = ALONG_K ? UNROLL * SPAN : UNROLL;  // part of K per warp and step
  constexpr int STEP_K = WARPS_K * WARP_K;
  constexpr int CHUNK_STEPS = STAGED_STEPS > 0 ? STAGED_STEPS : 1;
  // Part of K for which shared memory holds the short operand, if at all.
  constexpr int CHUNK = CHUNK_STEPS * STEP_K;
  constexpr int SUMS = ALONG_K ? VECTORS : VECTORS * VEC;  // per thread, for each of SHORT rows
  // Rows of which 8192 sums from all warps lie in shared memory at once; at least one.
  constexpr int ROWS_THAT_FIT = 8192 / (WARPS_K * BLOCK_E);
  constexpr int ROWS = ROWS_THAT_FIT < 1 ? 1 : ROWS_THAT_FIT < SHORT ? ROWS_THAT_FIT : SHORT;
  constexpr int PASSES = SHORT / ROWS;

  extern __shared__ __align__(16) unsigned char shared[];
  T* const staged = reinterpret_cast<T*>(shared);
  Sum<T>* const sums = reinterpret_cast<Sum<T>*>(shared);  // after the loop

  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32 % WARPS;
  const int warp_k = threadIdx.x / 32 / WARPS;
  const int extent = SHORT_M ? N : M;
  const int short_extent = SHORT_M ? M : N;
  const int block_e = blockIdx.x * BLOCK_E;
  const int first_e = block_e + warp * WARP_E + (ALONG_K ? 0 : lane * VEC);

  // This block's part of K: a whole number of steps.
  const int depth = alpha == 0 ? 0 : K;
  const int parts = SPLIT_K ? gridDim.y : 1;
  const int part = ceil_div(ceil_div(depth, parts), STEP_K) * STEP_K;
  const int begin = blockIdx.y * part;
  const int end = depth - begin < part ? depth : begin + part;
  const int steps = end > begin ? (end - begin + STEP_K - 1) / STEP_K : 0;

  const T* const a = A + blockIdx.z * stride_a;
  const T* const b = B + blockIdx.z * stride_b;
  const T* const long_operand = SHORT_M ? b : a;
  const long long long_ld = SHORT_M ? ldb : lda;
  const T* const short_operand = SHORT_M ? a : b;
  constexpr bool SHORT_ALONG_K = SHORT_M ? !TRANS_A : TRANS_B;
  const long long short_ld = SHORT_M ? lda : ldb;

  struct Step {
    Vector<T, VEC> at[UNROLL][VECTORS];
  };
  const auto k_of_lane = [&](int step) {
    return begin + step * STEP_K + warp_k * WARP_K + (ALONG_K ? lane * VEC : 0);
  };
  const auto read_long = [&](int step) {
    Step values;
    const int first_k = k_of_lane(step);
    const auto k_of = [&](int u) { return first_k + u * (ALONG_K ? SPAN : 1); };
    const auto e_of = [&](int p) { return first_e + p * (ALONG_K ? 1 : SPAN); };
    const auto from = [&](int u, int p) {
      return long_operand + (ALONG_K ? e_of(p) * long_ld + k_of(u) : k_of(u) * long_ld + e_of(p));
    };
    // One branch for all loads: with one branch per load the loads would be serialized.
    const bool inside = k_of(UNROLL - 1) + (ALONG_K ? VEC : 1) <= end &&
                        e_of(VECTORS - 1) + (ALONG_K ? 1 : VEC) <= extent;
    if (inside) {
      for_each<UNROLL, VECTORS>(
          [&](int u, int p) { values.at[u][p] = load_once<VEC>(from(u, p)); });
    } else {
      for_each<UNROLL, VECTORS>([&](int u, int p) {
        const int count = ALONG_K ? (e_of(p) < extent ? end - k_of(u) : 0)
                                  : (k_of(u) < end ? extent - e_of(p) : 0);
        values.at[u][p] = load_some<VEC>(from(u, p), count);
      });
    }
    return values;
  };
  const auto short_from = [&](int r, int k) {
    return short_operand + (SHORT_ALONG_K ? r * short_ld + k : k * short_ld + r);
  };
  const auto short_at = [&](int r, int k) {
    return r < short_extent && k < end ? *short_from(r, k) : T(0);
  };
  const auto stage_short = [&](int first_k) {
    for (int i = threadIdx.x; i < SHORT * CHUNK; i += THREADS) {
      const int r = SHORT_ALONG_K ? i / CHUNK : i % SHORT;
      const int k = SHORT_ALONG_K ? i % CHUNK : i / SHORT;
      staged[ALONG_K ? r * CHUNK + k : k * SHORT + r] = short_at(r, first_k + k);
    }
  };
  // The elements of the short operand that a lane multiplies its values with: one for the whole
  // vector along the extent, one for each element along K.
  constexpr int FACTORS = ALONG_K ? VEC : 1;
  struct StepFactors {
    Vector<T, FACTORS> at[UNROLL][SHORT];
  };
  const auto read_factors = [&](int step) {
    StepFactors factors;
    const int first_k = k_of_lane(step);
    const auto k_of = [&](int u, int v) { return first_k + u * (ALONG_K ? SPAN : 1) + v; };
    if (k_of(UNROLL - 1, FACTORS - 1) < end && short_extent == SHORT) {
      for_each<UNROLL, SHORT>([&](int u, int r) {
#pragma unroll
        for (int v = 0; v < FACTORS; ++v) factors.at[u][r].at[v] = *short_from(r, k_of(u, v));
      });
    } else {
      for_each<UNROLL, SHORT>([&](int u, int r) {
#pragma unroll
        for (int v = 0; v < FACTORS; ++v) factors.at[u][r].at[v] = short_at(r, k_of(u, v));
      });
    }
    return factors;
  };
  const auto shared_factors = [&](int step, int u, int r) {
    const int k = step % CHUNK_STEPS * STEP_K + warp_k * WARP_K + u * (ALONG_K ? SPAN : 1);
    return *reinterpret_cast<const Vector<T, FACTORS>*>(
        ALONG_K ? staged + r * CHUNK + k + lane * VEC : staged + k * SHORT + r);
  };

  Sum<T> sum[SHORT * SUMS] = {};  // row-major, a row for each row of the short operand
  const auto add = [&](const Vector<T, VEC>(&values)[VECTORS], const Vector<T, FACTORS>& factors,
                       int r) {
    for_each<VECTORS, VEC>([&](int p, int v) {
      sum[r * SUMS + (ALONG_K ? p : p * VEC + v)] +=
          Sum<T>(factors.at[ALONG_K ? v : 0]) * Sum<T>(values[p].at[v]);
    });
  };

  Step next = read_long(0);
  for (int step = 0; step < steps; ++step) {
    const Step now = next;
    if constexpr (STAGED_STEPS == 0) {
      const StepFactors factors = read_factors(step);
      if (PREFETCH) next = read_long(step + 1);
      for_each<UNROLL, SHORT>([&](int u, int r) { add(now.at[u], factors.at[u][r], r); });
    } else {
      if (step % CHUNK_STEPS == 0) {
        __syncthreads();
        stage_short(begin + step * STEP_K);
        __syncthreads();
      }
      if (PREFETCH) next = read_long(step + 1);
      for_each<UNROLL, SHORT>([&](int u, int r) { add(now.at[u], shared_factors(step, u, r), r); });
    }
    if (!PREFETCH) next = read_long(step + 1);
  }

  // Sums over the warps along K, through shared memory, ROWS rows at a time. The block's tile is
  // SHORT x BLOCK_E; neighbouring threads get neighbouring elements of C.
  if constexpr (ALONG_K) add_lanes<SHORT * SUMS>(sum, lane);
  constexpr int COUNT = ceil_div(ROWS * BLOCK_E, THREADS);
  const auto row_of = [](int index) { return SHORT_M ? index / BLOCK_E : index % ROWS; };
  const auto column_of = [](int index) { return SHORT_M ? index % BLOCK_E : index / ROWS; };
  Sum<T> mine[PASSES * COUNT];
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) {
    __syncthreads();
    const auto store_sum = [&](int r, int e, Sum<T> value) {
      sums[(warp_k * ROWS + r) * BLOCK_E + first_e - block_e + e] = value;
    };
    if constexpr (ALONG_K) {
      constexpr int COUNT = SHORT * SUMS;
#pragma unroll
      for (int i = 0; i < lane_sums<COUNT>; ++i) {
        const int number = first_lane_sum<COUNT>(lane) + i;
        const int r = number / SUMS - pass * ROWS;
        if (lane % lanes_of_sum<COUNT> == 0 && 0 <= r && r < ROWS)
          store_sum(r, number % SUMS, sum[i]);
      }
    } else {
      for_each<ROWS, SUMS>([&](int r, int i) {
        store_sum(r, i / VEC * SPAN + i % VEC, sum[(pass * ROWS + r) * SUMS + i]);
      });
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const int index = threadIdx.x + i * THREADS;
      Sum<T> total = 0;
      if (index < ROWS * BLOCK_E) {
#pragma unroll
        for (int w = 0; w < WARPS_K; ++w) {
          total += sums[(w * ROWS + row_of(index)) * BLOCK_E + column_of(index)];
        }
      }
      mine[pass * COUNT + i] = total;
    }
  }
  if constexpr (SPLIT_K) {
    const long long tile = static_cast<long long>(blockIdx.z) * gridDim.x + blockIdx.x;
    if (!reduce_splits<THREADS, 0>(mine, partials, arrivals, tile, blockIdx.y, gridDim.y,
                                   threadIdx.x)) {
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < PASSES * COUNT; ++i) {
    const int index = threadIdx.x + i % COUNT * THREADS;
    const int r = i / COUNT * ROWS + row_of(index);
    const int e = block_e + column_of(index);
    if (index >= ROWS * BLOCK_E || r >= short_extent || e >= extent) continue;
    Result* const c =
        C + blockIdx.z * stride_c +
        (SHORT_M ? static_cast<long long>(r) * ldc + e : static_cast<long long>(e) * ldc + r);
    *c = Result(beta == 0 ? alpha * mine[i] : alpha * mine[i] + beta * Sum<T>(*c));
  }
}
