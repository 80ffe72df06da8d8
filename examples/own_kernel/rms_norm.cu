// SPDX-License-Identifier: Apache-2.0
// Root-mean-square normalization, as in the layers of language models: each row of x is divided by
// the root of the mean of its squares (plus epsilon) and multiplied elementwise by w.
//
// Grid (rows), block (32 * WARPS): a block computes one row, a thread loads VEC floats at once.

template <int VEC>
struct alignas(4 * VEC) Vector {
  float of[VEC];
};

template <int VEC>
__device__ Vector<VEC> load(const float* from) {
  return *reinterpret_cast<const Vector<VEC>*>(from);
}

template <int WARPS>
__device__ float sum_of_block(float value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  __shared__ float of_warp[WARPS];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < WARPS; ++warp) sum += of_warp[warp];
  return sum;
}

template <int WARPS, int VEC>
__global__ void __launch_bounds__(32 * WARPS)
    rms_norm(int columns, float epsilon, const float* __restrict__ x, const float* __restrict__ w,
             float* __restrict__ y) {
  constexpr int STEP = 32 * WARPS * VEC;
  const long long row = static_cast<long long>(blockIdx.x) * columns;
  float squares = 0;
  for (int i = threadIdx.x * VEC; i < columns; i += STEP) {
    const Vector<VEC> values = load<VEC>(x + row + i);
    for (int j = 0; j < VEC; ++j) squares += values.of[j] * values.of[j];
  }
  const float scale = 1 / sqrtf(sum_of_block<WARPS>(squares) / columns + epsilon);
  for (int i = threadIdx.x * VEC; i < columns; i += STEP) {
    Vector<VEC> values = load<VEC>(x + row + i);
    const Vector<VEC> weights = load<VEC>(w + i);
    for (int j = 0; j < VEC; ++j) values.of[j] = values.of[j] * scale * weights.of[j];
    *reinterpret_cast<Vector<VEC>*>(y + row + i) = values;
  }
}
