// SPDX-License-Identifier: Apache-2.0
// out = in^T as transpose_naive_col.cu, with UNROLL elements per thread, BLOCK_X apart in a column
// of in, so that UNROLL loads are in flight.
//
// Grid (ceil(NY / (BLOCK_X * UNROLL)), ceil(NX / BLOCK_Y)), block (BLOCK_X, BLOCK_Y).

template <class T, int BLOCK_X, int BLOCK_Y, int UNROLL>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose_unroll_col(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  const int y0 = blockIdx.x * (BLOCK_X * UNROLL) + threadIdx.x;
  const int x = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (x >= NX) return;
  T value[UNROLL];
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int y = y0 + i * BLOCK_X;
    if (y < NY) value[i] = in[static_cast<long long>(y) * NX + x];
  }
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int y = y0 + i * BLOCK_X;
    if (y < NY) out[static_cast<long long>(x) * NY + y] = value[i];
  }
}
