// SPDX-License-Identifier: Apache-2.0
// The first step of the row-oriented products.
#pragma once

/// C *= beta for `rows` rows of `columns` floats. As in BLAS, beta == 0 does not read C.
__device__ inline void scale_rows(float* c, long long ldc, int rows, int columns, float beta) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) c[i * ldc + j] = beta == 0.0f ? 0.0f : beta * c[i * ldc + j];
  }
}
