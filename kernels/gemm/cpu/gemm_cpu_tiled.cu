// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major, on a CPU: gemm_cpu_rows on tiles, so that a tile of B
// stays in cache for all rows of a tile of A.
//
// Each block has one thread and computes every gridDim.x-th strip of TILE_M rows; blocks run on all
// cores. Grid (blocks, 1, batch), block (1).
#include "scaled_rows.cuh"

template <int TILE_M, int TILE_N, int TILE_K>
__global__ void gemm_cpu_tiled(int M, int N, int K, float alpha, const float* __restrict__ A,
                               int lda, const float* __restrict__ B, int ldb, float beta,
                               float* __restrict__ C, int ldc, long long stride_a,
                               long long stride_b, long long stride_c) {
  const float* const a = A + blockIdx.z * stride_a;
  const float* const b = B + blockIdx.z * stride_b;
  for (long long top = blockIdx.x * TILE_M; top < M; top += gridDim.x * TILE_M) {
    const int rows = min(TILE_M, static_cast<int>(M - top));
    float* const c = C + blockIdx.z * stride_c + top * ldc;
    scale_rows(c, ldc, rows, N, beta);
    if (alpha == 0.0f) continue;
    for (int left = 0; left < N; left += TILE_N) {
      const int columns = min(TILE_N, N - left);
      for (long long first = 0; first < K; first += TILE_K) {
        const long long last = min(first + TILE_K, static_cast<long long>(K));
        for (int i = 0; i < rows; ++i) {
          float* const row = c + i * static_cast<long long>(ldc) + left;
          for (long long k = first; k < last; ++k) {
            const float factor = alpha * a[(top + i) * lda + k];
            for (int j = 0; j < columns; ++j) row[j] += factor * b[k * ldb + left + j];
          }
        }
      }
    }
  }
}
