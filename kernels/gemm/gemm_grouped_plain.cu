// SPDX-License-Identifier: Apache-2.0
// The definition of a product whose rows are in groups. Grid (ceil(N / 256), M), block (256).

template <bool TRANS_B>
__global__ void gemm_grouped_plain(int N, int K, int groups, const int* offsets, const float* A,
                                   const float* B, float* C) {
  const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= N) return;
  int group = 0;
  while (group + 1 < groups && row >= offsets[group + 1]) ++group;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    const long long at = TRANS_B ? (static_cast<long long>(group) * N + column) * K + k
                                 : (static_cast<long long>(group) * K + k) * N + column;
    sum += A[static_cast<long long>(row) * K + k] * B[at];
  }
  C[static_cast<long long>(row) * N + column] = sum;
}
