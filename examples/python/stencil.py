# SPDX-License-Identifier: Apache-2.0
"""Tunes a stencil of five points against NumPy. EARLY=1 is a mistake: it reads what other threads have not yet loaded."""

import numpy

import tuner

SOURCE = """
__global__ void stencil(int h, int w, float c, const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[TILE_Y + 2][TILE_X + 2];
  const int x = blockIdx.x * TILE_X, y = blockIdx.y * TILE_Y;
  const int threads = TILE_X * TILE_Y, self = threadIdx.y * TILE_X + threadIdx.x;
  for (int i = self; i < (TILE_X + 2) * (TILE_Y + 2); i += threads) {
    const int r = y + i / (TILE_X + 2) - 1, q = x + i % (TILE_X + 2) - 1;
    tile[i / (TILE_X + 2)][i % (TILE_X + 2)] = r >= 0 && r < h && q >= 0 && q < w ? in[r * w + q] : 0.f;
  }
  if (!EARLY) __syncthreads();
  const int r = threadIdx.y + 1, q = threadIdx.x + 1;
  if (y + threadIdx.y < h && x + threadIdx.x < w)
    out[(y + threadIdx.y) * w + x + threadIdx.x] =
        c * tile[r][q] + tile[r - 1][q] + tile[r + 1][q] + tile[r][q - 1] + tile[r][q + 1];
}
"""


def stencil(c, **arrays):
    p = numpy.pad(arrays["in"], 1)
    return c * p[1:-1, 1:-1] + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]


k = tuner.tune(SOURCE, parameters={"TILE_X": [16, 32], "TILE_Y": [1, 4, 8], "EARLY": [0, 1]}, reference=stencil,
               args=lambda H, W, rng: {"h": H, "w": W, "c": -4.0, "in": rng.normal(H, W), "out": rng.empty(H, W)},
               grid=lambda p, s: (-(-s.W // p.TILE_X), -(-s.H // p.TILE_Y)), block=("TILE_X", "TILE_Y"),
               sizes=[(256, 300)], check_sizes=[(1, 1), (37, 41), (64, 32)])
print(k)
