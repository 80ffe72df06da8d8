// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major, on a CPU, by its widest vectors: sums of kRows x 2
// vectors stay in registers during the loop along K. B is read from a packed panel of DEPTH x 2
// vectors, which is copied once for all rows of a strip (Goto and van de Geijn, Anatomy of
// high-performance matrix multiplication, ACM TOMS 34, 2008).
//
// Each block has one thread and computes a strip of STRIP rows; blocks run on all cores. Grid
// (ceil(M / STRIP), 1, batch), block (1).

#if defined(__AVX512F__)
constexpr int kWidth = 16;  // floats per vector
constexpr int kRows = 12;   // sums take 24 of 32 vector registers
#elif defined(__AVX__)
constexpr int kWidth = 8;
constexpr int kRows = 6;  // 12 of 16
#else
constexpr int kWidth = 4;
constexpr int kRows = 6;
#endif
constexpr int kColumns = 2 * kWidth;

typedef float Vector __attribute__((vector_size(sizeof(float) * kWidth)));

/// Copies `depth` rows of kColumns floats of B to the panel; columns outside B are zero.
__device__ inline void pack(float* panel, const float* b, long long ldb, int depth, int columns) {
  for (int k = 0; k < depth; ++k) {
    for (int j = 0; j < kColumns; ++j)
      panel[k * kColumns + j] = j < columns ? b[k * ldb + j] : 0.0f;
  }
}

/// c = alpha * a * panel + beta * c for kRows x kColumns of C. Only `rows` rows and `columns`
/// columns are stored; rows of A beyond `rows` repeat the last one.
__device__ inline void multiply_tile(const float* __restrict__ a, long long lda,
                                     const float* __restrict__ panel, int depth, float alpha,
                                     float beta, float* __restrict__ c, long long ldc, int rows,
                                     int columns) {
  const float* row[kRows];
  for (int i = 0; i < kRows; ++i) row[i] = a + min(i, rows - 1) * lda;
  Vector sums[kRows][2] = {};
  for (int k = 0; k < depth; ++k) {
    const Vector* const b = reinterpret_cast<const Vector*>(panel + k * kColumns);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      sums[i][0] += row[i][k] * b[0];
      sums[i][1] += row[i][k] * b[1];
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const float product = alpha * sums[i][j / kWidth][j % kWidth];
      c[i * ldc + j] = beta == 0.0f ? product : product + beta * c[i * ldc + j];
    }
  }
}

template <int STRIP, int DEPTH>
__global__ void gemm_cpu_simd(int M, int N, int K, float alpha, const float* __restrict__ A,
                              int lda, const float* __restrict__ B, int ldb, float beta,
                              float* __restrict__ C, int ldc, long long stride_a,
                              long long stride_b, long long stride_c) {
  alignas(64) __shared__ float panel[DEPTH * kColumns];
  const long long top = blockIdx.x * STRIP;
  const int rows = min(STRIP, static_cast<int>(M - top));
  const float* const a = A + blockIdx.z * stride_a + top * lda;
  const float* const b = B + blockIdx.z * stride_b;
  float* const c = C + blockIdx.z * stride_c + top * ldc;
  const int all = alpha == 0.0f ? 0 : K;
  for (long long first = 0; first == 0 || first < all; first += DEPTH) {
    const int depth = min(DEPTH, static_cast<int>(all - first));
    for (int left = 0; left < N; left += kColumns) {
      const int columns = min(kColumns, N - left);
      pack(panel, b + first * ldb + left, ldb, depth, columns);
      for (long long i = 0; i < rows; i += kRows) {
        multiply_tile(a + i * lda + first, lda, panel, depth, alpha, first == 0 ? beta : 1.0f,
                      c + i * ldc + left, ldc, min(kRows, static_cast<int>(rows - i)), columns);
      }
    }
  }
}
