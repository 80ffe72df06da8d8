// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major, on a CPU: gemm_cpu_naive with the inner loops exchanged.
// Scaled rows of B are added to rows of C: the inner loop is contiguous, and the compiler
// vectorizes it.
//
// One thread computes a product of the batch. Grid (1, 1, batch), block (1).
#include "scaled_rows.cuh"

__global__ void gemm_cpu_rows(int M, int N, int K, float alpha, const float* __restrict__ A,
                              int lda, const float* __restrict__ B, int ldb, float beta,
                              float* __restrict__ C, int ldc, long long stride_a,
                              long long stride_b, long long stride_c) {
  const float* const a = A + blockIdx.z * stride_a;
  const float* const b = B + blockIdx.z * stride_b;
  float* const c = C + blockIdx.z * stride_c;
  scale_rows(c, ldc, M, N, beta);
  if (alpha == 0.0f) return;
  for (long long i = 0; i < M; ++i) {
    for (long long k = 0; k < K; ++k) {
      const float factor = alpha * a[i * lda + k];
      for (int j = 0; j < N; ++j) c[i * ldc + j] += factor * b[k * ldb + j];
    }
  }
}
