// SPDX-License-Identifier: Apache-2.0
// out = in^T on a CPU, row-major: in is NY x NX, out NX x NY, square tiles of TILE elements one
// after the other. TILE = 1 with BY_ROWS reads rows and writes columns, without it the reverse.
//
// Each block has one thread and transposes every gridDim.x-th row of tiles; one block is serial.
// Grid (blocks), block (1).

template <int TILE, bool BY_ROWS>
__global__ void host_transpose(int NX, int NY, const float* __restrict__ in,
                               float* __restrict__ out) {
  const int rows = BY_ROWS ? NY : NX, columns = BY_ROWS ? NX : NY;  // of the loops
  for (long long top = static_cast<long long>(blockIdx.x) * TILE; top < rows;
       top += static_cast<long long>(gridDim.x) * TILE) {
    for (int left = 0; left < columns; left += TILE) {
      for (int i = static_cast<int>(top); i < min(rows, static_cast<int>(top) + TILE); ++i) {
        for (int j = left; j < min(columns, left + TILE); ++j) {
          const long long y = BY_ROWS ? i : j, x = BY_ROWS ? j : i;
          out[x * NY + y] = in[y * NX + x];
        }
      }
    }
  }
}
