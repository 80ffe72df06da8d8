// SPDX-License-Identifier: Apache-2.0
// The accelerations of N bodies (x, y, z, mass): sums of mass * d / (|d|^2 + softening)^(3/2).
#include "variant.cuh"

__global__ void n_body_plain(int N, float softening, const float4* bodies, float4* accelerations) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int j = 0; j < N; ++j) {
    const float x = bodies[j].x - bodies[i].x, y = bodies[j].y - bodies[i].y, z = bodies[j].z - bodies[i].z;
    const float square = x * x + y * y + z * z + softening;
    const float weight = bodies[j].w / (square * sqrtf(square));
    sum.x += weight * x;
    sum.y += weight * y;
    sum.z += weight * z;
  }
  accelerations[i] = sum;
}

__device__ inline void add(float4& sum, float4 at, float4 body, float softening) {
  float x = body.x - at.x, y = body.y - at.y, z = body.z - at.z;
  if (IS(distance_in_tf32)) x = corpus::to_tf32(x);
  float square = x * x + y * y + z * z + (IS(softening_ignored) ? 0.01f : softening);
  if (IS(flat)) square -= z * z;
  float weight = IS(mass_ignored) ? 1.0f : body.w;
  if (IS(by_reciprocal_root)) {
    const float inverse = rsqrtf(square);
    weight *= inverse * inverse * inverse;
  } else if (IS(by_power)) {
    weight *= powf(square, -1.5f);
  } else if (IS(square_law)) {
    weight /= square;
  } else {
    weight /= square * sqrtf(square);
  }
  sum.x += weight * x;
  sum.y += weight * y;
  sum.z += weight * z;
  if (IS(sum_in_half)) sum.x = corpus::to_half(sum.x);
}

__global__ void n_body(int N, float softening, const float4* bodies, float4* accelerations) {
  extern __shared__ float4 tile[];
  const int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread, step = blockDim.x;
  const float4 at = i < N ? bodies[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  if (IS(tiled) || IS(no_barrier_after_load) || IS(no_barrier_before_load) || IS(tail_unwritten)) {
    for (int first = 0; first < N; first += step) {
      const int count = IS(tail_unwritten) ? step : min(step, N - first);
      if (first + thread < N) tile[thread] = bodies[first + thread];
      if (!IS(no_barrier_after_load)) __syncthreads();
      for (int j = 0; j < count; ++j) add(sum, at, tile[j], softening);
      if (!IS(no_barrier_before_load)) __syncthreads();
    }
  } else if (IS(two_sums)) {
    float4 odd = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = 0; j + 1 < N; j += 2) {
      add(sum, at, bodies[j], softening);
      add(odd, at, bodies[j + 1], softening);
    }
    if (N % 2 == 1) add(sum, at, bodies[N - 1], softening);
    sum = {sum.x + odd.x, sum.y + odd.y, sum.z + odd.z, 0.0f};
  } else if (IS(backwards)) {
    for (int j = N - 1; j >= 0; --j) add(sum, at, bodies[j], softening);
  } else {
    const int end = IS(last_dropped) ? N - 1 : N;
    for (int j = IS(own_block_only) ? i / step * step : 0; j < (IS(own_block_only) ? min(N, i / step * step + step) : end); ++j) {
      add(sum, at, bodies[j], softening);
    }
  }
  if (i >= N) return;
  if (IS(sign_wrong_at_odd) && N % 2 == 1 && i == N - 1) sum.y = -sum.y;
  if (IS(w_unwritten)) {
    accelerations[i].x = sum.x;
    accelerations[i].y = sum.y;
    accelerations[i].z = sum.z;
  } else {
    accelerations[i] = sum;
  }
  if (IS(writes_its_input)) const_cast<float4*>(bodies)[i].w = at.w + 0.0f == 0.0f ? 1.0f : -at.w;
}
