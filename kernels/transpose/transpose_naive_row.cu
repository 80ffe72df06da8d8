// SPDX-License-Identifier: Apache-2.0
// out = in^T, row-major: in is NY x NX, out NX x NY. One thread per element, without shared memory:
// neighbouring threads read a row, and write a column, NY elements apart.
//
// Grid (ceil(NX / BLOCK_X), ceil(NY / BLOCK_Y)), block (BLOCK_X, BLOCK_Y).

template <class T, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose_naive_row(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (x >= NX || y >= NY) return;
  out[static_cast<long long>(x) * NY + y] = in[static_cast<long long>(y) * NX + x];
}
