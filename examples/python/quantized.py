# SPDX-License-Identifier: Apache-2.0
"""Tunes a matrix-vector product of 4-bit weights against NumPy. SKIP=1 is a mistake: it forgets the zero point of the last group."""

import numpy

import tuner

SOURCE = """
template <int BLOCK, int SKIP>  // of a row's groups of 32 weights: two of a byte, a scale, a zero point of 8
__global__ void gemv(int rows, int groups, const unsigned char* __restrict__ q, const float* __restrict__ scale,
                     const float* __restrict__ x, float* __restrict__ y) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int g = 0; g < groups; ++g) {
    float part = 0;
    for (int i = 0; i < 32; ++i) {
      const int byte = q[(row * groups + g) * 16 + i / 2];
      const int zero = SKIP && g == groups - 1 ? 0 : 8;
      part += ((i % 2 ? byte >> 4 : byte & 15) - zero) * x[g * 32 + i];
    }
    sum += scale[row * groups + g] * part;
  }
  y[row] = sum;
}
"""


def gemv(q, scale, x):
    weights = numpy.stack([q & 15, q >> 4], axis=-1).reshape(*scale.shape, 32).astype(x.dtype) - 8
    return (scale * (weights * x.reshape(1, -1, 32)).sum(axis=2)).sum(axis=1)


k = tuner.tune(SOURCE, "gemv<BLOCK, SKIP>", parameters={"BLOCK": [32, 64, 128], "SKIP": [0, 1]}, reference=gemv,
               args=lambda ROWS, GROUPS, rng: dict(
                   rows=ROWS, groups=GROUPS, q=rng.integers(0, 256, ROWS, GROUPS * 16), scale=rng.normal(ROWS, GROUPS),
                   x=rng.normal(GROUPS * 32), y=rng.empty(ROWS)),
               grid="ceil_div(ROWS, BLOCK)", block="BLOCK", sizes=[(512, 16)], check_sizes=[(1, 1), (37, 3), (130, 2)])
print(k)
