// SPDX-License-Identifier: Apache-2.0
// The reference of rms_norm: one thread computes one row, column by column.

__global__ void rms_norm_plain(int columns, float epsilon, const float* x, const float* w,
                               float* y) {
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float squares = 0;
  for (int i = 0; i < columns; ++i) squares += row[i] * row[i];
  const float scale = 1 / sqrtf(squares / columns + epsilon);
  for (int i = 0; i < columns; ++i) {
    y[static_cast<long long>(blockIdx.x) * columns + i] = row[i] * scale * w[i];
  }
}
