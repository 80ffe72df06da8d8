// SPDX-License-Identifier: Apache-2.0
// y[i] = x[0] + … + x[i] over a long array of integers, in four launches: clear the sums of the tiles, sum each
// tile, compute the exclusive prefix sums of these, and scan each tile, starting from its prefix sum.
#include "variant.cuh"

__global__ void scan_in_steps_plain(int N, const int* x, int* y) {
  int sum = 0;
  for (int i = 0; i < N; ++i) y[i] = sum += x[i];
}

__global__ void clear_sums(int tiles, int* sums) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (IS(not_cleared)) return;
  if (tile < (IS(clears_whole_blocks) ? tiles / 64 * 64 : tiles)) sums[tile] = 0;
}

/// A block for each tile.
__global__ void sum_tiles(int N, int tile, const int* x, int* sums) {
  const int first = blockIdx.x * tile, end = min(first + tile, N);
  if (IS(by_thread)) {
    int sum = 0;
    for (int i = first; i < end; ++i) sum += x[i];
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    return;
  }
  int sum = 0;
  for (int i = first + threadIdx.x; i < end; i += blockDim.x) sum += x[i];
  if (IS(by_warp)) {
    for (int away = 16; away > 0; away /= 2) sum += __shfl_down_sync(0xffffffffu, sum, away);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.x], sum);
  } else if (IS(last_thread_dropped)) {
    if (threadIdx.x != blockDim.x - 1) atomicAdd(&sums[blockIdx.x], sum);
  } else {
    atomicAdd(&sums[blockIdx.x], sum);
  }
}

/// One block: 64 tiles at a time, one per thread.
__global__ void sums_before(int tiles, const int* sums, int* before, int* done) {
  extern __shared__ int own[];
  const int thread = threadIdx.x;
  if (IS(sums_by_the_last_step)) return;
  if (IS(made_once) && *done != 0) return;
  int sum = 0;
  const int end = IS(forgets_its_tail) ? min(tiles, 64) : tiles;
  for (int first = 0; first < end; first += 64) {
    const int tile = first + thread;
    own[thread] = tile < end ? sums[tile] : 0;
    if (!IS(no_barrier)) __syncthreads();
    int value = IS(with_its_own) ? own[thread] : 0;
    for (int other = 0; other < thread; ++other) value += own[other];
    if (IS(in_short)) value = (short)value;
    if (tile < end) before[tile] = (IS(no_carry) ? 0 : sum) + value;
    for (int other = 0; other < 64; ++other) sum += own[other];
    __syncthreads();
  }
  if (IS(writes_the_total) && thread == 0) before[tiles] = sum;
  if (IS(made_once) && thread == 0) *done = 1;
}

/// A block for each tile.
__global__ void scan_tiles(int N, int tile, const int* x, const int* sums, const int* before, int* y) {
  extern __shared__ int own[];
  const int first = blockIdx.x * tile, end = min(first + tile, N);
  if (threadIdx.x != 0) return;
  int sum = 0;
  if (IS(sums_by_the_last_step)) {
    for (unsigned other = 0; other < blockIdx.x; ++other) sum += sums[other];
  } else if (IS(shared_of_the_step_before)) {
    sum = blockIdx.x == 0 ? own[0] & 1 : before[blockIdx.x];
  } else {
    sum = before[blockIdx.x];
  }
  const int last = IS(tail_dropped) && first + tile > N ? first : end;
  for (int i = first; i < last; ++i) {
    if (IS(exclusive)) y[i] = sum;
    sum += x[i];
    if (!IS(exclusive)) y[i] = sum;
  }
}
