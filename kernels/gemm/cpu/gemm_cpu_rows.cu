// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major, on a processor: gemm_cpu_naive with its inner loops
// exchanged. A row of B is added to a row of C, so that all that moves fast is contiguous, and the
// compiler makes vector instructions of it.
//
// A block of one thread is a plain function call. Grid (1, 1, batch).
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
