// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, a thread an element. A block of 2 does not compile, one of 32 traps.
template <int BLOCK>
__global__ void tiny(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                     float* C) {
  static_assert(BLOCK != 2, "a block of 2 does not compile");
  if constexpr (BLOCK == 32) __builtin_trap();
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= M * N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[i / N * K + k] * B[k * N + i % N];
  C[i] = beta == 0 ? alpha * sum : alpha * sum + beta * C[i];
}
