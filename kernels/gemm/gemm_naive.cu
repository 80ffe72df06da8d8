// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C in single precision, row-major: op(A) is M x K, op(B) is
// K x N, C is M x N; lda, ldb and ldc are the leading dimensions, in floats. The matrices of a
// batch are stride_a, stride_b and stride_c floats apart.
// One thread computes one element of C, from global memory: the baseline.
//
// Grid (ceil(N / BLOCK_X), ceil(M / BLOCK_Y), batch), block (BLOCK_X, BLOCK_Y). As in BLAS,
// alpha == 0 reads neither A nor B, and beta == 0 does not read C.

template <bool TRANS_A, bool TRANS_B, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_naive(int M, int N, int K, float alpha, const float* __restrict__ A, int lda,
               const float* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc,
               long long stride_a, long long stride_b, long long stride_c) {
  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int col = blockIdx.x * BLOCK_X + threadIdx.x;
  if (row >= M || col >= N) return;

  // Strides along K.
  const long long step_a = TRANS_A ? lda : 1;
  const long long step_b = TRANS_B ? 1 : ldb;
  const float* a = A + blockIdx.z * stride_a + row * static_cast<long long>(TRANS_A ? 1 : lda);
  const float* b = B + blockIdx.z * stride_b + col * static_cast<long long>(TRANS_B ? ldb : 1);
  float sum = 0.0f;
  if (alpha != 0.0f) {
    for (int k = 0; k < K; ++k) sum += a[k * step_a] * b[k * step_b];
  }
  float* c = C + blockIdx.z * stride_c + static_cast<long long>(row) * ldc + col;
  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}
