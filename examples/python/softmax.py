# SPDX-License-Identifier: Apache-2.0
"""Tunes a softmax against NumPy. NAIVE=1 is a mistake: it does not subtract the maximum."""

import numpy

import tuner

SOURCE = """
template <int BLOCK, int NAIVE>
__global__ void softmax(int cols, const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float part[BLOCK];
  const float* row = x + (long long)blockIdx.x * cols;
  float most = NAIVE ? 0.f : -INFINITY, sum = 0;
  if (!NAIVE) for (int i = threadIdx.x; i < cols; i += BLOCK) most = fmaxf(most, row[i]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int i = 0; i < BLOCK; ++i) most = fmaxf(most, part[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += BLOCK) sum += expf(row[i] - most);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < cols; i += BLOCK)
    y[(long long)blockIdx.x * cols + i] = expf(row[i] - most) / part[0];
}
"""


def softmax(x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


k = tuner.tune(SOURCE, "softmax<BLOCK, NAIVE>", parameters={"BLOCK": [32, 64, 128], "NAIVE": [0, 1]}, reference=softmax,
               args=lambda ROWS, COLS, rng: dict(cols=COLS, x=rng.normal(ROWS, COLS), y=rng.empty(ROWS, COLS)),
               grid=lambda p, s: s.ROWS, block="BLOCK", sizes=[(64, 1000)], check_sizes=[(1, 1), (3, 37), (2, 130)])
print(k)
