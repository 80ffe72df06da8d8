// SPDX-License-Identifier: Apache-2.0
// out = in^T as transpose_naive_row.cu, with UNROLL elements per thread, BLOCK_X apart in a row of
// in, so that UNROLL loads are in flight.
//
// Grid (ceil(NX / (BLOCK_X * UNROLL)), ceil(NY / BLOCK_Y)), block (BLOCK_X, BLOCK_Y).

template <class T, int BLOCK_X, int BLOCK_Y, int UNROLL>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose_unroll_row(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  const int x0 = blockIdx.x * (BLOCK_X * UNROLL) + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (y >= NY) return;
  T value[UNROLL];
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int x = x0 + i * BLOCK_X;
    if (x < NX) value[i] = in[static_cast<long long>(y) * NX + x];
  }
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int x = x0 + i * BLOCK_X;
    if (x < NX) out[static_cast<long long>(x) * NY + y] = value[i];
  }
}
