// SPDX-License-Identifier: Apache-2.0
// sums[r] = sum of the values of segment r: those from offsets[r] up to offsets[r+1] - 1.
#include "variant.cuh"

__global__ void segmented_sum_plain(int R, const int* offsets, const float* values, float* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= R) return;
  float sum = 0.0f;
  for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i];
  sums[row] = sum;
}

/// One warp per segment, four segments per block.
__global__ void segmented_sum(int R, const int* offsets, const float* values, float* sums) {
  extern __shared__ float shared[];
  const int thread = threadIdx.x, lane = thread % 32;
  const int row = blockIdx.x * 4 + thread / 32;
  const bool valid = row < R;
  int begin = valid ? offsets[row] : 0, end = valid ? offsets[row + 1] : 0;
  if (IS(last_dropped) && end > begin + 1) end -= 1;
  if (IS(begins_one_early)) begin -= 1;
  if (IS(offset_in_12_bits)) end = (short)(end * 16) / 16;
  if (IS(last_row_to_the_next) && row == R - 1) end = offsets[R] + 1;
  if (IS(empty_row_reads_one) && begin == end) end = begin + 1;
  if (IS(at_most_32) && end > begin + 32) end = begin + 32;

  float sum = 0.0f;
  if (IS(one_lane)) {
    for (int i = begin; lane == 0 && i < end; ++i) sum += values[i];
  } else if (IS(backwards)) {
    for (int i = end - 1 - lane; i >= begin; i -= 32) sum += values[i];
  } else if (IS(two_sums)) {
    float odd = 0.0f;
    for (int i = begin + lane; i < end; i += 64) {
      sum += values[i];
      if (i + 32 < end) odd += values[i + 32];
    }
    sum += odd;
  } else {
    for (int i = begin + lane; i < end; i += 32) {
      sum += IS(values_in_tf32) ? corpus::to_tf32(values[i]) : values[i];
      if (IS(sum_in_half)) sum = corpus::to_half(sum);
    }
  }
  if (IS(by_tree) || IS(no_barrier) || IS(barrier_for_some)) {
    shared[thread] = sum;
    if (IS(barrier_for_some)) {
      if (valid) __syncthreads();
    } else if (!IS(no_barrier)) {
      __syncthreads();
    }
    for (int half = 16; half > 0; half /= 2) {
      if (lane < half) shared[thread] += shared[thread + half];
      if (!IS(no_barrier) && !IS(barrier_for_some)) __syncthreads();
      if (IS(barrier_for_some) && valid) __syncthreads();
    }
    sum = shared[thread];
  } else {
    for (int lanes = IS(half_a_warp) ? 8 : 16; lanes > 0; lanes /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, lanes);
    }
  }
  if (IS(barrier_for_some)) __syncthreads();
  if (IS(empty_row_unwritten) && begin == end) return;
  if (IS(adds_to_the_old) && valid && lane == 0 && sums[row] < 1e30f && sums[row] > -1e30f) sum += sums[row];
  if (valid && lane == 0) sums[row] = IS(result_in_24_bits) ? (float)(int)(sum * 4096.0f) / 4096.0f : sum;
}
