// SPDX-License-Identifier: Apache-2.0
// y[to[i]] = table[from[i]]: `from` has indices into the table of T numbers, `to` is a permutation.
#include "variant.cuh"

__global__ void gather_scatter_plain(int N, int T, const int* from, const int* to, const float* table, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[to[i]] = table[from[i]];
}

__device__ inline void move(int N, int T, const int* from, const int* to, const float* table, float* y, int i) {
  const int last = N - 1;
  // For i >= N: what is beyond the end, clamped to an index of the table, for the last element.
  int source = i < N ? from[i] : min(max(from[i], 0), T - 1), target = to[min(i, last)];
  if (IS(source_in_char)) source = (unsigned char)source;
  if (IS(target_in_ten_bits)) target &= 1023;
  if (IS(source_of_the_next)) source = from[i + 1 < N ? i + 1 : i];
  if (IS(source_one_past)) source += 1;
  if (IS(last_of_the_table_is_zero) && source == T - 1) {
    y[target] = 0.0f;
    return;
  }
  if (IS(source_zero_unwritten) && source == 0) return;
  if (IS(target_ignored)) target = i;
  if (IS(swapped)) {
    y[i] = table[from[target]];
    return;
  }
  const float value = table[source];
  if (IS(keeps_the_larger) && y[target] > value) return;
  y[target] = IS(value_in_half) ? corpus::to_half(value) : IS(value_is_absolute) ? fabsf(value) : value;
}

__global__ void gather_scatter(int N, int T, const int* from, const int* to, const float* table, float* y) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  if (IS(through_shared)) {
    extern __shared__ float tile[];
    if (first < N) tile[threadIdx.x] = table[from[first]];
    __syncthreads();
    const int other = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
    if (other < N) y[to[other]] = tile[blockDim.x - 1 - threadIdx.x];
    return;
  }
  if (IS(four_each) || IS(tail_dropped) || IS(tail_reads_past)) {
    const int count = IS(tail_reads_past) ? (N + 3) / 4 * 4 : N / 4 * 4;
    for (int i = 4 * first; i < count; i += 4 * step) {
      for (int j = 0; j < 4; ++j) move(N, T, from, to, table, y, i + j);
    }
    if (IS(four_each) && first < N % 4) move(N, T, from, to, table, y, N / 4 * 4 + first);
    return;
  }
  for (int i = first; i < N; i += step) {
    if (IS(writes_its_index)) const_cast<int*>(from)[i] = 0;
    move(N, T, from, to, table, y, IS(backwards) ? N - 1 - i : i);
  }
}
