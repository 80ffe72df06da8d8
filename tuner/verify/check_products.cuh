// SPDX-License-Identifier: Apache-2.0
// Kernels that are references: products and sums of integers, and what follows a product.
#pragma once

#include "check_numbers.cuh"

/// Where element (row, column) of op(X) lies in a matrix X with rows of `ld` elements.
__device__ inline long long place(int transposed, long long ld, long long row, long long column) {
  return transposed ? column * ld + row : row * ld + column;
}

/// The product of a batch of matrices of integers, exactly where no sum leaves 64 bits.
template <class To, class From>
__global__ void product(To* c, const From* a, const From* b, long long m, long long n, long long k,
                        long long batch, int trans_a, int trans_b, long long lda, long long ldb,
                        long long ldc, long long stride_a, long long stride_b, long long stride_c,
                        long long alpha, long long beta) {
  for (long long i = first_index(); i < batch * m * n; i += index_stride()) {
    const long long row = i / n % m, column = i % n, matrix = i / n / m;
    long long sum = 0;
    for (long long step = 0; step < k; ++step) {
      sum += (long long)a[matrix * stride_a + place(trans_a, lda, row, step)] *
             (long long)b[matrix * stride_b + place(trans_b, ldb, step, column)];
    }
    To* const to = c + matrix * stride_c + row * ldc + column;
    *to = (To)(alpha * sum + (beta == 0 ? 0 : beta * (long long)*to));
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
