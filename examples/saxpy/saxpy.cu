// SPDX-License-Identifier: Apache-2.0
// y = a*x + y: a block has ITEMS * blockDim.x neighbours, a thread every blockDim.x-th of them.
template <int ITEMS>
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  const int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int i = first + item * blockDim.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}
