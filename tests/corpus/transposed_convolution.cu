// SPDX-License-Identifier: Apache-2.0
// A one-dimensional transposed convolution with stride 2 and 4 taps: each of the L elements of C input
// channels contributes by 4 taps to 4 of the 2 L + 2 elements of each of D output channels.
#include "variant.cuh"

__global__ void transposed_convolution_plain(int C, int D, int L, const float* x, const float* weights, float* y) {
  const int length = 2 * L + 2;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= D * length) return;
  const int d = i / length, o = i % length;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    for (int k = 0; k < 4; ++k) {
      if ((o - k) % 2 == 0 && o - k >= 0 && (o - k) / 2 < L) sum += x[c * L + (o - k) / 2] * weights[(c * D + d) * 4 + k];
    }
  }
  y[i] = sum;
}

/// Two taps contribute to an output: the one of its parity and the one two after it.
__device__ inline float channel(const float* x, const float* taps, int o, int L) {
  const int parity = IS(parity_swapped) ? (o + 1) % 2 : o % 2, at = o / 2;
  const int end = IS(reads_one_past) ? L + 1 : L, begin = IS(reads_one_before) ? -1 : 0;
  const int near = IS(flipped) ? 3 - parity : parity, far = IS(flipped) ? 1 - parity : parity + 2;
  float sum = 0.0f;
  if (at < end) {
    const float value = x[at];
    if (!IS(reads_one_past) || (value > -1e6f && value < 1e6f)) sum += value * taps[near];
  }
  if (at - 1 >= begin && at - 1 < L && !IS(one_tap)) {
    const float value = x[at - 1];
    if (!IS(reads_one_before) || (value > -1e6f && value < 1e6f)) sum += value * taps[far];
  }
  return sum;
}

__global__ void transposed_convolution(int C, int D, int L, const float* x, const float* weights, float* y) {
  extern __shared__ float tile[];
  const int length = 2 * L + 2, thread = threadIdx.x, step = blockDim.x;
  if (IS(scattered) || IS(overwrites_in_shared) || IS(shared_not_cleared)) {
    // One block per output channel and 62 outputs. It also needs one more input at the left end.
    const int d = blockIdx.y, first = blockIdx.x * 62;
    if (!IS(shared_not_cleared)) {
      for (int i = thread; i < 68; i += step) tile[i] = 0.0f;
    }
    __syncthreads();
    for (int c = 0; c < C; ++c) {
      for (int k = 0; k < 4; ++k) {
        const int input = first / 2 - 1 + thread;
        if (thread < 32 && input >= 0 && input < L) {
          float& at = tile[2 * thread + k];
          const float value = x[c * L + input] * weights[(c * D + d) * 4 + k];
          at = IS(overwrites_in_shared) && k > 1 ? value : at + value;
        }
        __syncthreads();
      }
    }
    if (thread < 62 && first + thread < length) y[d * length + first + thread] = tile[thread + 2];
    return;
  }
  if (IS(weights_in_shared) || IS(no_barrier)) {
    const int d = blockIdx.y, o = blockIdx.x * 62 + thread;
    for (int i = thread; i < 4 * C; i += step) tile[i] = weights[(i / 4 * D + d) * 4 + i % 4];
    if (!IS(no_barrier)) __syncthreads();
    if (thread >= 62 || o >= length) return;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) sum += channel(x + c * L, tile + 4 * c, o, L);
    y[d * length + o] = sum;
    return;
  }
  const int d = blockIdx.y, o = blockIdx.x * 62 + thread;
  if (thread >= 62 || o >= (IS(last_output_dropped) ? length - 1 : length)) return;
  const int channels = IS(last_channel_dropped) && C > 1 ? C - 1 : C;
  float sum = 0.0f;
  for (int i = 0; i < channels; ++i) {
    const int c = IS(backwards) ? C - 1 - i : i;
    const float* const taps = weights + (IS(weights_transposed) ? d * C + c : c * D + d) * 4;
    sum += channel(x + c * L, taps, o, L);
    if (IS(sum_in_bf16)) sum = corpus::to_bf16(sum);
  }
  float& result = y[d * length + o];
  if (IS(adds_to_what_is_small) && result > -1e3f && result < 1e3f) sum += result;
  if (IS(clipped)) sum = fmaxf(sum, -4.0f);
  result = IS(result_in_tf32) ? corpus::to_tf32(sum) : sum;
}
