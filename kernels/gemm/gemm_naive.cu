// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major without padding: A is M x K, B is K x N, C is M x N.
// One thread an element of C, everything read from global memory: what the caches alone achieve.
//
// Grid (ceil(N / BLOCK_X), ceil(M / BLOCK_Y)), block (BLOCK_X, BLOCK_Y). As in BLAS, alpha == 0
// reads neither A nor B, and beta == 0 does not read C.

template <int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_naive(int M, int N, int K, float alpha, const float* __restrict__ A,
               const float* __restrict__ B, float beta, float* __restrict__ C) {
  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int col = blockIdx.x * BLOCK_X + threadIdx.x;
  if (row >= M || col >= N) return;

  float sum = 0.0f;
  if (alpha != 0.0f) {
    const float* a = A + static_cast<long long>(row) * K;
    const float* b = B + col;
    for (int k = 0; k < K; ++k) sum += a[k] * b[static_cast<long long>(k) * N];
  }
  float* c = C + static_cast<long long>(row) * N + col;
  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}
