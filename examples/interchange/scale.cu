// SPDX-License-Identifier: Apache-2.0
// y = 2x, tuned by macros, as Kernel Tuner and KTT pass parameters.
extern "C" __global__ void scale(float* y, const float* x, int n) {
  const int first = blockIdx.x * block_size_x * items + threadIdx.x;
  for (int i = 0; i < items; ++i) {
    const int at = first + i * block_size_x;
    if (at < n) y[at] = 2 * x[at];
  }
}
