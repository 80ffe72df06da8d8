// SPDX-License-Identifier: Apache-2.0
// out = in, both NY x NX and row-major: neighbouring threads copy neighbouring elements of a
// column, NX elements apart. The lower bound of the bandwidth of a transpose: no access is
// coalesced. A thread copies UNROLL elements of a column, BLOCK_X rows apart.
//
// Grid (ceil(NY / (BLOCK_X * UNROLL)), ceil(NX / BLOCK_Y)), block (BLOCK_X, BLOCK_Y).

template <class T, int BLOCK_X, int BLOCK_Y, int UNROLL>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    copy_col(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  const int x = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int y0 = blockIdx.x * (BLOCK_X * UNROLL) + threadIdx.x;
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
    if (y < NY) out[static_cast<long long>(y) * NX + x] = value[i];
  }
}
