// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major, on a CPU, by Eigen.
//
// Each block has one thread and computes a strip of rows; blocks run on all cores. Grid (blocks, 1,
// batch), block (1).

// Threads have small stacks.
#define EIGEN_STACK_ALLOCATION_LIMIT 1024
#include <eigen3/Eigen/Core>

// Eigen asks the processor for its caches once, which takes longer than a small product, above all
// in a virtual machine: when the code is loaded, not in the first launch.
[[maybe_unused]] static const std::ptrdiff_t kL1Bytes = Eigen::l1CacheSize();

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::OuterStride<>;

__global__ void gemm_cpu_eigen(int M, int N, int K, float alpha, const float* __restrict__ A,
                               int lda, const float* __restrict__ B, int ldb, float beta,
                               float* __restrict__ C, int ldc, long long stride_a,
                               long long stride_b, long long stride_c) {
  const long long top = static_cast<long long>(M) * blockIdx.x / gridDim.x;
  const long long rows = static_cast<long long>(M) * (blockIdx.x + 1) / gridDim.x - top;
  const Eigen::Map<const Matrix, 0, Rows> a(A + blockIdx.z * stride_a + top * lda, rows, K,
                                            Rows(lda));
  const Eigen::Map<const Matrix, 0, Rows> b(B + blockIdx.z * stride_b, K, N, Rows(ldb));
  Eigen::Map<Matrix, 0, Rows> c(C + blockIdx.z * stride_c + top * ldc, rows, N, Rows(ldc));
  if (beta == 0.0f) {
    c.setZero();
  } else {
    c *= beta;
  }
  if (alpha != 0.0f) c.noalias() += alpha * a * b;
}
