// SPDX-License-Identifier: Apache-2.0
// C = A·B of row-major matrices, tiles of TILE x TILE in shared memory. FUSED: multiply and add are
// one instruction, rounded once; else two, each rounded.
//
// A thread computes PER x PER elements of C and reads 2 * PER floats of shared memory for PER * PER
// multiply-adds: with PER = 1 shared memory limits the rate, with PER = 8 arithmetic.
//
// Grid (ceil(N / TILE), ceil(M / TILE)), block (TILE / PER, TILE / PER).

template <int TILE, int PER, bool FUSED>
__global__ void __launch_bounds__((TILE / PER) * (TILE / PER))
    fused_gemm(int M, int N, int K, const float* __restrict__ A, const float* __restrict__ B,
               float* __restrict__ C) {
  constexpr int LANES = TILE / PER;
  constexpr int DEPTH = 16;
  __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE];
  const int thread = threadIdx.y * LANES + threadIdx.x;
  const int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;

  float sums[PER][PER] = {};
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    for (int i = thread; i < TILE * DEPTH; i += LANES * LANES) {
      const int row = row0 + i / DEPTH, k = k0 + i % DEPTH;
      a[i % DEPTH][i / DEPTH] = row < M && k < K ? A[row * K + k] : 0;
    }
    for (int i = thread; i < TILE * DEPTH; i += LANES * LANES) {
      const int k = k0 + i / TILE, column = column0 + i % TILE;
      b[i / TILE][i % TILE] = k < K && column < N ? B[k * N + column] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float column[PER], row[PER];
#pragma unroll
      for (int i = 0; i < PER; ++i) column[i] = a[k][threadIdx.y + i * LANES];
#pragma unroll
      for (int j = 0; j < PER; ++j) row[j] = b[k][threadIdx.x + j * LANES];
#pragma unroll
      for (int i = 0; i < PER; ++i) {
#pragma unroll
        for (int j = 0; j < PER; ++j) {
          sums[i][j] = FUSED ? __fmaf_rn(column[i], row[j], sums[i][j])
                             : __fadd_rn(sums[i][j], __fmul_rn(column[i], row[j]));
        }
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < PER; ++i) {
#pragma unroll
    for (int j = 0; j < PER; ++j) {
      const int row = row0 + threadIdx.y + i * LANES, column = column0 + threadIdx.x + j * LANES;
      if (row < M && column < N) C[row * N + column] = sums[i][j];
    }
  }
}
