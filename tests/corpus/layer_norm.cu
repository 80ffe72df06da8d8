// SPDX-License-Identifier: Apache-2.0
// Layer norm of each row: y = (x - mean) / sqrt(variance + epsilon) * weight + bias.
#include "variant.cuh"

__global__ void layer_norm_plain(int M, int N, float epsilon, const float* x, const float* weight,
                                 const float* bias, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* const in = x + row * N;
  float mean = 0.0f, variance = 0.0f;
  for (int i = 0; i < N; ++i) mean += in[i];
  mean /= N;
  for (int i = 0; i < N; ++i) variance += (in[i] - mean) * (in[i] - mean);
  variance /= N;
  for (int i = 0; i < N; ++i) {
    y[row * N + i] = (in[i] - mean) / sqrtf(variance + epsilon) * weight[i] + bias[i];
  }
}

__device__ float mean_before = 0.0f;

/// The sum over all threads of the block, returned in all of them.
__device__ inline float total(float value, int used) {
  extern __shared__ float shared[];
  const int thread = threadIdx.x;
  if (IS(warp)) {
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
    return __shfl_sync(0xffffffffu, value, 0);
  }
  if (!IS(unwritten_shared) || thread < used) shared[thread] = value;
  if (!IS(no_barrier_before_the_tree)) __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  const float result = shared[0];
  if (!IS(no_barrier_after_the_tree)) __syncthreads();
  return result;
}

/// One block per row.
__global__ void layer_norm(int M, int N, float epsilon, const float* x, const float* weight,
                           const float* bias, float* y) {
  const int row = blockIdx.x, thread = threadIdx.x, step = blockDim.x;
  const float* const in = x + row * N;
  float* const out = y + row * N;
  const int end = IS(sums_drop_the_last) && N > 2 ? N - 1 : N;

  float mean = 0.0f, variance = 0.0f;
  if (IS(welford)) {
    // Welford's algorithm per thread; the threads' results are combined by the formula of Chan et al.
    float count = 0.0f, squares = 0.0f;
    for (int i = thread; i < N; i += step) {
      count += 1.0f;
      const float delta = in[i] - mean;
      mean += delta / count;
      squares += delta * (in[i] - mean);
    }
    const float own = mean;
    mean = total(count * own, N) / N;
    variance = total(squares + count * (own - mean) * (own - mean), N) / N;
  } else {
    for (int i = thread; i < end; i += step) {
      mean += in[i];
      if (IS(sums_in_half)) mean = corpus::to_half(mean);
    }
    mean = total(mean, N) / N;
    if (IS(mean_is_an_integer)) mean = (float)(int)mean;
    if (IS(mean_of_the_launch_before)) {
      const float before = mean_before;
      __syncthreads();
      if (row == 0 && thread == 0) mean_before = mean;
      if (before != 0.0f) mean = before;
    }
    for (int i = thread; i < end; i += step) {
      const float delta = IS(inputs_in_bf16) ? corpus::to_bf16(in[i]) - mean : in[i] - mean;
      variance += delta * delta;
    }
    variance = total(variance, N) / (IS(variance_of_a_sample) ? N - 1 : N);
  }

  const float scale = 1.0f / sqrtf(variance + (IS(epsilon_ignored) ? 0.0f : epsilon));
  for (int i = thread; i < N; i += step) {
    float centred = in[i] - mean;
    if (IS(reciprocal_root)) {
      centred *= rsqrtf(variance + epsilon);
    } else if (IS(two_pass)) {
      centred = centred / sqrtf(variance + epsilon);
    } else {
      centred *= scale;
    }
    const float w = IS(weight_of_the_next) ? weight[i + 1] : IS(weight_of_the_row) ? weight[row % N] : weight[i];
    out[i] = IS(bias_ignored) ? centred * w : centred * w + bias[i];
    if (IS(result_in_half)) out[i] = corpus::to_half(out[i]);
    if (IS(fixed_point_result)) out[i] = (float)(int)(out[i] * 65536.0f) / 65536.0f;
  }
}
