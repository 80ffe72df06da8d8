// SPDX-License-Identifier: Apache-2.0
// Kernels that are references: products and sums of integers, and what follows a product.
#pragma once

#include "check_numbers.cuh"

/// Where element (row, column) of op(X) lies in a matrix X with rows of `ld` elements.
__device__ inline long long place(int transposed, long long ld, long long row, long long column) {
  return transposed ? column * ld + row : row * ld + column;
}

/// What holds the sum of 32 products of integers of this size.
template <int kBytes>
struct PartialSum {
  using Type = long long;
};
template <>
struct PartialSum<1> {
  using Type = int;
};

constexpr int kProductThreads = 256;  // as kThreads of check_kernels.cpp

/// The product of a batch of matrices of integers, exactly where no sum leaves 64 bits: tiles of C
/// through shared memory.
template <class To, class From>
__global__ void product(To* c, const From* a, const From* b, long long m, long long n, long long k,
                        long long batch, int trans_a, int trans_b, long long lda, long long ldb,
                        long long ldc, long long stride_a, long long stride_b, long long stride_c,
                        long long alpha, long long beta) {
  constexpr int kTile = 32, kEach = kTile * kTile / kProductThreads;
  __shared__ From tile_a[kTile][kTile + 1], tile_b[kTile][kTile + 1];  // by the step of k
  using Part = typename PartialSum<sizeof(From)>::Type;
  const int thread = threadIdx.x, thread_row = thread / kTile, thread_column = thread % kTile;
  const long long across = (n + kTile - 1) / kTile, down = (m + kTile - 1) / kTile;
  for (long long tile = blockIdx.x; tile < batch * down * across; tile += gridDim.x) {
    const long long matrix = tile / across / down;
    const long long first_row = tile / across % down * kTile, first_column = tile % across * kTile;
    long long sums[kEach] = {};
    for (long long first_step = 0; first_step < k; first_step += kTile) {
      for (int i = thread; i < kTile * kTile; i += kProductThreads) {
        // Neighbouring threads read neighbouring elements.
        const int outer = i / kTile, inner = i % kTile;
        const int step_a = trans_a ? outer : inner, row = trans_a ? inner : outer;
        const bool in_a = first_row + row < m && first_step + step_a < k;
        tile_a[step_a][row] =
            in_a ? a[matrix * stride_a + place(trans_a, lda, first_row + row, first_step + step_a)]
                 : From(0);
        const int step_b = trans_b ? inner : outer, column = trans_b ? outer : inner;
        const bool in_b = first_column + column < n && first_step + step_b < k;
        tile_b[step_b][column] =
            in_b ? b[matrix * stride_b +
                     place(trans_b, ldb, first_step + step_b, first_column + column)]
                 : From(0);
      }
      __syncthreads();
      Part parts[kEach] = {};
      for (int step = 0; step < kTile; ++step) {
        for (int i = 0; i < kEach; ++i) {
          parts[i] += (Part)tile_a[step][thread_row + i * (kTile / kEach)] *
                      (Part)tile_b[step][thread_column];
        }
      }
      for (int i = 0; i < kEach; ++i) sums[i] += parts[i];
      __syncthreads();
    }
    for (int i = 0; i < kEach; ++i) {
      const long long row = first_row + thread_row + i * (kTile / kEach);
      const long long column = first_column + thread_column;
      if (row >= m || column >= n) continue;
      To* const to = c + matrix * stride_c + row * ldc + column;
      *to = (To)(alpha * sums[i] + (beta == 0 ? 0 : beta * (long long)*to));
    }
  }
}

/// c = f(c + bias + residual), in double: bias 1: of columns, 2: of rows; f 1: ReLU, 2: GELU by
/// tanh.
template <class T, class Given>
__global__ void finish_product(T* c, const Given* bias, const Given* residual, long long m,
                               long long n, long long batch, long long ldc, long long stride_c,
                               int bias_kind, int activation, int has_residual) {
  for (long long i = first_index(); i < batch * m * n; i += index_stride()) {
    const long long row = i / n % m, column = i % n;
    const long long place = i / n / m * stride_c + row * ldc + column;
    double x = (double)c[place];
    if (bias_kind) x += (double)bias[bias_kind == 1 ? column : row];
    if (has_residual) x += (double)residual[place];
    if (activation == 1 && x < 0) x = 0;
    if (activation == 2) {
      x = x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    }
    c[place] = (T)x;
  }
}

/// The sum of two matrices of integers; a factor of zero leaves its matrix unread.
template <class T>
__global__ void sum(T* c, const T* a, const T* b, long long m, long long n, int trans_a,
                    int trans_b, long long lda, long long ldb, long long ldc, long long alpha,
                    long long beta) {
  for (long long i = first_index(); i < m * n; i += index_stride()) {
    const long long row = i / n, column = i % n;
    c[row * ldc + column] =
        (T)((alpha == 0 ? 0 : alpha * (long long)a[place(trans_a, lda, row, column)]) +
            (beta == 0 ? 0 : beta * (long long)b[place(trans_b, ldb, row, column)]));
  }
}
