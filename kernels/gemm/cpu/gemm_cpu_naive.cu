// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C as gemm_naive.cu, on a CPU: three nested loops, one element
// of C at a time. If B is not transposed, the inner loop reads a column of B, a cache line per
// load.
//
// One thread computes a product of the batch. Grid (1, 1, batch), block (1).

template <bool TRANS_A, bool TRANS_B>
__global__ void gemm_cpu_naive(int M, int N, int K, float alpha, const float* __restrict__ A,
                               int lda, const float* __restrict__ B, int ldb, float beta,
                               float* __restrict__ C, int ldc, long long stride_a,
                               long long stride_b, long long stride_c) {
  // Strides of op(A) and op(B).
  const long long row_a = TRANS_A ? 1 : lda, step_a = TRANS_A ? lda : 1;
  const long long step_b = TRANS_B ? 1 : ldb, col_b = TRANS_B ? ldb : 1;
  const float* const a = A + blockIdx.z * stride_a;
  const float* const b = B + blockIdx.z * stride_b;
  float* const c = C + blockIdx.z * stride_c;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0.0f;
      if (alpha != 0.0f) {
        for (int k = 0; k < K; ++k) sum += a[i * row_a + k * step_a] * b[k * step_b + j * col_b];
      }
      float& element = c[i * static_cast<long long>(ldc) + j];
      element = beta == 0.0f ? alpha * sum : alpha * sum + beta * element;
    }
  }
}
