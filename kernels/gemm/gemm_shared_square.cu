// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major, as gemm_naive.cu has it without transposition: the tiled
// product of the CUDA C++ Programming Guide. A block computes a square tile of C, one element for
// each thread, and copies the tiles of A and B that it needs to shared memory, one after the other:
// each element is read from global memory N / TILE or M / TILE times instead of N or M times.
//
// Grid (ceil(N / TILE), ceil(M / TILE), batch), block (TILE, TILE). As in BLAS, alpha == 0 reads
// neither A nor B, and beta == 0 does not read C.

template <int TILE>
__global__ void __launch_bounds__(TILE* TILE)
    gemm_shared_square(int M, int N, int K, float alpha, const float* __restrict__ A, int lda,
                       const float* __restrict__ B, int ldb, float beta, float* __restrict__ C,
                       int ldc, long long stride_a, long long stride_b, long long stride_c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
  const float* const a = A + blockIdx.z * stride_a + row * static_cast<long long>(lda);
  const float* const b = B + blockIdx.z * stride_b + col;
  const int depth = alpha == 0.0f ? 0 : K;
  float sum = 0.0f;
  for (int first = 0; first < depth; first += TILE) {
    tile_a[y][x] = row < M && x < K - first ? a[first + x] : 0.0f;
    tile_b[y][x] = col < N && y < K - first ? b[(first + y) * static_cast<long long>(ldb)] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  if (row >= M || col >= N) return;
  float* const c = C + blockIdx.z * stride_c + row * static_cast<long long>(ldc) + col;
  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}
