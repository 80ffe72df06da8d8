// SPDX-License-Identifier: Apache-2.0
// The inclusive prefix sums of each row of integers.
#include "variant.cuh"

__global__ void scan_plain(int M, int N, const int* x, int* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  int sum = 0;
  for (int i = 0; i < N; ++i) y[row * N + i] = sum += x[row * N + i];
}

/// The inclusive prefix sums over the 64 threads of the block.
__device__ inline int prefix(int value) {
  extern __shared__ int shared[];
  const int thread = threadIdx.x;
  if (IS(by_warp)) {
    for (int away = 1; away < 32; away *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, value, away);
      if (thread % 32 >= away) value += other;
    }
    if (thread == 31) shared[0] = value;
    __syncthreads();
    if (thread >= 32) value += shared[0];
    __syncthreads();
    return value;
  }
  if (IS(up_and_down)) {
    // Blelloch: sums up the tree, then exclusive prefix sums down the tree.
    shared[thread] = value;
    __syncthreads();
    for (int span = 1; span < 64; span *= 2) {
      const int right = (thread + 1) * 2 * span - 1;
      if (right < 64) shared[right] += shared[right - span];
      __syncthreads();
    }
    if (thread == 0) shared[63] = 0;
    __syncthreads();
    for (int span = 32; span > 0; span /= 2) {
      const int right = (thread + 1) * 2 * span - 1;
      if (right < 64) {
        const int left = shared[right - span];
        shared[right - span] = shared[right];
        shared[right] += left;
      }
      __syncthreads();
    }
    const int result = shared[thread] + value;
    __syncthreads();
    return result;
  }
  if (!IS(unwritten_shared) || value > 0) shared[thread] = value;
  __syncthreads();
  for (int away = 1; away < (IS(one_step_less) ? 32 : 64); away *= 2) {
    const int other = thread >= away ? shared[thread - away] : 0;
    if (!IS(no_barrier_in_a_step)) __syncthreads();
    shared[thread] += other;
    __syncthreads();
  }
  const int result = shared[thread];
  __syncthreads();
  return result;
}

/// One block per row, 64 elements at a time.
__global__ void scan(int M, int N, const int* x, int* y) {
  __shared__ int carry_of_block;
  const int row = blockIdx.x, thread = threadIdx.x;
  const int* const in = x + row * N;
  int* const out = y + row * N;
  if (IS(serial)) {
    int sum = 0;
    for (int i = 0; thread == 0 && i < N; ++i) out[i] = sum += in[i];
    return;
  }
  int carry = 0;
  if (IS(starts_before_the_row) && row == 0) carry = min(in[-1], 0);
  if (IS(starts_with_old_output)) carry = max(out[0], 0);
  __syncthreads();
  for (int first = 0; first < N; first += 64) {
    const int i = first + thread;
    const int value = i < N ? in[i] : 0;
    const int sum = prefix(value);
    int result = carry + sum;
    if (IS(exclusive)) result -= value;
    if (IS(in_float)) result = (int)((float)carry + (float)sum);
    if (IS(in_short)) result = (short)result;
    if (IS(in_24_bits)) result = result << 8 >> 8;
    if (i < (IS(last_dropped) && N > 1 ? N - 1 : N)) out[i] = result;
    if (thread == 63) carry_of_block = IS(carry_forgets) ? sum : carry + sum;
    if (!IS(no_barrier_before_carry)) __syncthreads();
    carry = carry_of_block;
    __syncthreads();
    if (IS(no_carry)) carry = 0;
  }
}
