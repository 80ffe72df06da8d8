// SPDX-License-Identifier: Apache-2.0
// out = in^T, row-major: in is NY x NX, out NX x NY. One thread per element, without shared memory:
// neighbouring threads read a column, NX elements apart, and write a row.
//
// Grid (ceil(NY / BLOCK_X), ceil(NX / BLOCK_Y)), block (BLOCK_X, BLOCK_Y).

template <class T, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose_naive_col(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  const int y = blockIdx.x * BLOCK_X + threadIdx.x;
  const int x = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (x >= NX || y >= NY) return;
  out[static_cast<long long>(x) * NY + y] = in[static_cast<long long>(y) * NX + x];
}
