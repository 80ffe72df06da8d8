// SPDX-License-Identifier: Apache-2.0
// What saxpy is checked against.
__global__ void saxpy_plain(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
