// SPDX-License-Identifier: Apache-2.0
// A GEMM in shared memory with typical mistakes of kernels; -DMUTANT=<name> selects one. `none` is
// correct. IS(name) marks each mistake; some are in the launch geometry of mutants.json.
// mutants_test.py has the expected outcome of each.

enum class Mutant {
  none,
  // synchronisation and shared memory
  no_barrier_after_load,
  no_barrier_before_load,
  last_writer_wins,
  uninitialised_shared,
  uninitialised_sums,
  // indices and guards
  guard_off_by_one,
  k_tail_dropped,
  one_slice_less,
  one_element_more,
  skipped_tile,
  too_few_blocks,
  swapped_operands,
  transposed_output,
  wrong_when_n_is_odd,
  wrong_when_k_is_1,
  // out-of-bounds, misaligned and forbidden accesses
  writes_behind,
  writes_before,
  writes_behind_by_a_row,
  writes_an_input,
  reads_behind_a,
  misaligned_vector,
  far_out_of_bounds,
  // values
  does_nothing,
  gives_nan,
  gives_infinity,
  gives_a_constant,
  ignores_alpha,
  ignores_beta,
  reads_c_when_beta_is_0,
  sums_in_half,
  // state from launch to launch
  wrong_after_ten,
  wrong_while_timed,
  idle_while_timed,
  another_order_each_time,
  hangs_at_the_eleventh,
  // launches
  infinite_loop,
  trap,
  too_many_registers,
  too_much_shared,
};

constexpr Mutant kMutant = Mutant::MUTANT;
#define IS(name) (kMutant == Mutant::name)

__device__ int launches = 0;      // completed launches
__device__ int blocks_ended = 0;  // of the current launch
__device__ volatile int forever = 1;

__device__ inline void fault() {
#ifdef __CUDACC__
  __trap();
#else
  __builtin_trap();
#endif
}

/// Truncated to the 11-bit significand of half.
__device__ inline float to_half(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xFFFFE000u);
}

/// Keeps 200 values live across a barrier; the result is 0.
__device__ inline float burden(const float* A, long long count, float* tile) {
  float kept[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) kept[i] = A[i * 7 % count];
  tile[threadIdx.y * blockDim.x + threadIdx.x] = 0.0f;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 200; ++i) sum += kept[i] * tile[i];
  __syncthreads();
  return sum;
}

/// C = alpha·A·B + beta·C: a block computes TILE×TILE elements from k-tiles in shared memory.
template <int TILE>
__global__ void gemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                     float* C) {
  extern __shared__ float shared[];
  float* const tile_a = shared;
  float* const tile_b = shared + TILE * TILE;
  const int x = threadIdx.x, y = threadIdx.y, rank = y * TILE + x;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;

  const int launch = launches;
  if (IS(infinite_loop) || (IS(hangs_at_the_eleventh) && launch >= 10)) {
    while (forever) {
    }
  }
  if (IS(trap)) fault();
  if (IS(does_nothing) || (IS(idle_while_timed) && launch >= 29)) return;
  if (IS(skipped_tile) && blockIdx.x == 0 && blockIdx.y == 0) return;

  float sum = 0.0f;
  if (IS(too_many_registers)) sum += burden(A, (long long)M * K, shared);
  if (IS(uninitialised_shared)) {
    sum = shared[2 * TILE * TILE + rank];  // assumed to be zero
    __syncthreads();
  }
  if (IS(uninitialised_sums)) {
    float sums[4];
    sums[rank % 4] += 0.0f;
    sum += sums[rank % 4];
  }
  int last_writer = 0;
  if (IS(last_writer_wins)) {
    // On a GPU later warps wait less, so that the first warp writes last.
    for (volatile int wait = 64 * (TILE - y); wait > 0; wait = wait - 1) {
    }
    shared[0] = (float)rank;
    __syncthreads();
    last_writer = (int)shared[0];
    __syncthreads();
  }

  int depth = K;
  if (IS(k_tail_dropped)) depth = K / TILE * TILE;
  if (IS(one_slice_less)) depth = (K - 1) / TILE * TILE;
  if (IS(one_element_more)) depth = K + 1;
  const bool backwards = IS(another_order_each_time) && launch % 2 == 1;
  const int k_tiles = (depth + TILE - 1) / TILE;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const int first = (backwards ? k_tiles - 1 - k_tile : k_tile) * TILE;
    const int k_a = first + x, k_b = first + y;
    const float* const left = IS(swapped_operands) ? B : A;
    const float* const right = IS(swapped_operands) ? A : B;
    tile_a[rank] = row < M && k_a < depth ? left[row * K + k_a] : 0.0f;
    tile_b[rank] = col < N && k_b < depth ? right[k_b * N + col] : 0.0f;
    if (!IS(no_barrier_after_load)) __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      sum += tile_a[y * TILE + k] * tile_b[k * TILE + x];
      if (IS(sums_in_half)) sum = to_half(sum);
    }
    if (!IS(no_barrier_before_load)) __syncthreads();
  }

  __syncthreads();
  if (rank == 0 && atomicAdd(&blocks_ended, 1) + 1 == (int)(gridDim.x * gridDim.y)) {
    blocks_ended = 0;
    launches = launch + 1;
  }

  if (IS(reads_behind_a)) sum += 0.0f * A[M * K];
  if (IS(misaligned_vector)) {
    const float4 vector = *(const float4*)(A + 1);
    sum += 0.0f * (vector.x + vector.y + vector.z + vector.w);
  }
  if (IS(writes_an_input) && row + col == 0) const_cast<float*>(A)[0] = 7.0f;
  if (IS(writes_behind) && row + col == 0) C[M * N] = 0.0f;
  if (IS(writes_before) && row + col == 0) C[-1] = 0.0f;
  if (IS(writes_behind_by_a_row) && row == 0 && col < N) C[M * N + N + col] = 0.0f;
  if (IS(far_out_of_bounds) && row + col == 0) C[1ll << 40] = 0.0f;

  if (IS(guard_off_by_one) ? row > M || col >= N : row >= M || col >= N) return;
  if (IS(gives_nan) && row + col == 3) sum = 0.0f / 0.0f;
  if (IS(gives_infinity) && row + col == 3) sum = 1.0f / 0.0f;
  if (IS(gives_a_constant)) sum = 1.0f;
  if (IS(wrong_when_n_is_odd)) sum += (float)(N % 2);
  if (IS(wrong_when_k_is_1)) sum += (float)(K == 1);
  if (IS(wrong_after_ten) && launch >= 10) sum += 1.0f;
  if (IS(wrong_while_timed) && launch >= 29) sum += 1.0f;
  if (IS(last_writer_wins) && last_writer != TILE * TILE - 1) sum += 1.0f;

  float& c = IS(transposed_output) ? C[col * M + row] : C[row * N + col];
  const float product = IS(ignores_alpha) ? sum : alpha * sum;
  if (IS(ignores_beta)) {
    c = product;
  } else if (IS(reads_c_when_beta_is_0)) {
    c = product + beta * c;
  } else {
    c = beta == 0.0f ? product : product + beta * c;
  }
}
