// SPDX-License-Identifier: Apache-2.0
// out = in^T as transpose_naive_row.cu (BY_ROWS) or transpose_naive_col.cu, with consecutive blocks
// on a diagonal of the matrix. Where row lengths are powers of two, the blocks of a row or column
// access the same memory partition (partition camping); those of a diagonal do not.
//
// Grid (ceil(NX / WIDTH), ceil(NY / HEIGHT)), block (BLOCK_X, BLOCK_Y). A block transposes
// WIDTH x HEIGHT elements of in: BLOCK_X x BLOCK_Y with BY_ROWS, else BLOCK_Y x BLOCK_X.

template <class T, bool BY_ROWS, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose_diagonal(int NX, int NY, const T* __restrict__ in, T* __restrict__ out) {
  constexpr int WIDTH = BY_ROWS ? BLOCK_X : BLOCK_Y;
  constexpr int HEIGHT = BY_ROWS ? BLOCK_Y : BLOCK_X;
  // Consecutive blocks go one block down and one block right.
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  const int block_y = block % gridDim.y;
  const int block_x = (block / gridDim.y + block_y) % gridDim.x;
  const int x = block_x * WIDTH + (BY_ROWS ? threadIdx.x : threadIdx.y);
  const int y = block_y * HEIGHT + (BY_ROWS ? threadIdx.y : threadIdx.x);
  if (x >= NX || y >= NY) return;
  out[static_cast<long long>(x) * NY + y] = in[static_cast<long long>(y) * NX + x];
}
