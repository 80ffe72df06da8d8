// SPDX-License-Identifier: Apache-2.0
// C = alpha * op(A) * op(B) + beta * C, row-major: op(A) is M x K, op(B) is K x N, C is M x N; lda,
// ldb and ldc are the leading dimensions, in elements. The matrices of a batch are stride_a,
// stride_b and stride_c elements apart.
// One thread computes one element of C, from global memory: the baseline.
//
// Grid (ceil(N / BLOCK_X), ceil(M / BLOCK_Y), batch), block (BLOCK_X, BLOCK_Y). As in BLAS,
// alpha == 0 reads neither A nor B, and beta == 0 does not read C.

#include "common/element.cuh"

template <class T, class Result, bool TRANS_A, bool TRANS_B, int BLOCK_X, int BLOCK_Y>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_naive(int M, int N, int K, Sum<T> alpha, const T* __restrict__ A, int lda,
               const T* __restrict__ B, int ldb, Sum<T> beta, Result* __restrict__ C, int ldc,
               long long stride_a, long long stride_b, long long stride_c) {
  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int col = blockIdx.x * BLOCK_X + threadIdx.x;
  if (row >= M || col >= N) return;

  // Strides along K.
  const long long step_a = TRANS_A ? lda : 1;
  const long long step_b = TRANS_B ? 1 : ldb;
  const T* a = A + blockIdx.z * stride_a + row * static_cast<long long>(TRANS_A ? 1 : lda);
  const T* b = B + blockIdx.z * stride_b + col * static_cast<long long>(TRANS_B ? ldb : 1);
  Sum<T> sum = 0;
  if (alpha != 0) {
    for (int k = 0; k < K; ++k) sum += Sum<T>(a[k * step_a]) * Sum<T>(b[k * step_b]);
  }
  Result* c = C + blockIdx.z * stride_c + static_cast<long long>(row) * ldc + col;
  *c = Result(beta == 0 ? alpha * sum : alpha * sum + beta * Sum<T>(*c));
}
