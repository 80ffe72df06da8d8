// SPDX-License-Identifier: Apache-2.0
// out = in, both NY x NX and row-major: neighbouring threads copy neighbouring elements of a row.
// The upper bound of the bandwidth of a transpose. A thread copies UNROLL vectors of VEC elements
// of a row, BLOCK_X vectors apart.
//
// Grid (ceil(NX / (VEC * BLOCK_X * UNROLL)), ceil(NY / BLOCK_Y)), block (BLOCK_X, BLOCK_Y). NX is a
// multiple of VEC. LOAD and STORE: see common/cached_access.cuh.

#include "common/cached_access.cuh"

template <class T, int VEC, int BLOCK_X, int BLOCK_Y, int UNROLL, int LOAD, int STORE>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    copy_row(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int x0 = (blockIdx.x * (BLOCK_X * UNROLL) + threadIdx.x) * VEC;
  if (y >= NY) return;
  const long long row = static_cast<long long>(y) * NX;
  Vector<T, VEC> value[UNROLL];
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int x = x0 + i * (BLOCK_X * VEC);
    if (x < NX) value[i] = load<LOAD, VEC>(in + row + x);
  }
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int x = x0 + i * (BLOCK_X * VEC);
    if (x < NX) store<STORE>(out + row + x, value[i]);
  }
}
