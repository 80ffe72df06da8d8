// SPDX-License-Identifier: Apache-2.0
// out = in^T, row-major: in is NY x NX, out NX x NY. A block loads a tile by rows into shared
// memory and stores it by columns, so that loads and stores are coalesced. The tile is BLOCK_X *
// UNROLL wide and BLOCK_Y high. For the stores, threads are renumbered: BLOCK_Y of them along a
// column. PAD elements of padding after each row of the tile avoid bank conflicts.
//
// Grid (ceil(NX / (BLOCK_X * UNROLL)), ceil(NY / BLOCK_Y)), block (BLOCK_X, BLOCK_Y); with DYNAMIC,
// dynamic shared memory for the tile.

template <class T, int BLOCK_X, int BLOCK_Y, int UNROLL, int PAD, bool DYNAMIC>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose_shared(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  constexpr int WIDTH = BLOCK_X * UNROLL;
  constexpr int PITCH = WIDTH + PAD;
  extern __shared__ __align__(8) unsigned char dynamic_tile[];
  __shared__ T static_tile[DYNAMIC ? 1 : BLOCK_Y * PITCH];
  T* const tile = DYNAMIC ? reinterpret_cast<T*>(dynamic_tile) : static_tile;

  const int x0 = blockIdx.x * WIDTH;
  const int y0 = blockIdx.y * BLOCK_Y;
  const int y = y0 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int column = threadIdx.x + i * BLOCK_X;
    if (x0 + column < NX && y < NY) {
      tile[threadIdx.y * PITCH + column] = in[static_cast<long long>(y) * NX + x0 + column];
    }
  }
  __syncthreads();

  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  const int row = thread % BLOCK_Y;
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) {
    const int column = thread / BLOCK_Y + i * BLOCK_X;
    if (x0 + column < NX && y0 + row < NY) {
      out[static_cast<long long>(x0 + column) * NY + y0 + row] = tile[row * PITCH + column];
    }
  }
}
