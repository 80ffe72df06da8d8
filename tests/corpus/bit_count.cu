// SPDX-License-Identifier: Apache-2.0
// bits[i] = number of bits set in words[i]; sum = number of bits set in all words.
#include "variant.cuh"

__global__ void bit_count_plain(int N, const unsigned* words, unsigned* bits, unsigned* sum) {
  unsigned all = 0;
  for (int i = 0; i < N; ++i) {
    unsigned count = 0;
    for (int bit = 0; bit < 32; ++bit) count += words[i] >> bit & 1u;
    bits[i] = count;
    all += count;
  }
  *sum = all;
}

__constant__ unsigned char of_nibble[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

__device__ inline unsigned count(unsigned word) {
  unsigned result = 0;
  if (IS(lowest_removed)) {
    for (; word != 0; word &= word - 1) ++result;
  } else if (IS(by_nibbles)) {
    for (; word != 0; word >>= 4) result += of_nibble[word & 15u];
  } else if (IS(in_parallel) || IS(wrong_mask)) {
    word -= word >> 1 & (IS(wrong_mask) ? 0x55555545u : 0x55555555u);
    word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
    result = ((word + (word >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
  } else if (IS(sign_bit_missing)) {
    for (int rest = (int)word & 0x7fffffff; rest > 0; rest >>= 1) result += (unsigned)rest & 1u;
  } else if (IS(word_in_float)) {
    result = (unsigned)__popc((unsigned)(float)word);
  } else if (IS(word_in_short)) {
    result = (unsigned)__popc(word & 0xffffu);
  } else if (IS(word_in_24_bits)) {
    result = (unsigned)__popc(word & 0xffffffu);
  } else {
    result = (unsigned)__popc(word);
  }
  if (IS(all_ones_wrap)) result &= 31u;
  return result;
}

__global__ void bit_count(int N, const unsigned* words, unsigned* bits, unsigned* sum) {
  extern __shared__ unsigned shared[];
  const int thread = threadIdx.x, step = gridDim.x * blockDim.x;
  const int end = IS(tail_dropped) && N > 64 ? N / 64 * 64 : N;
  unsigned own = 0;
  for (int i = blockIdx.x * blockDim.x + thread; i < end; i += step) {
    const unsigned found = count(words[i]);
    if (!IS(few_unwritten) || found > 4) bits[i] = found;
    own += found;
  }
  if (IS(sum_per_thread) || IS(lowest_removed)) {
    atomicAdd(sum, own);
    return;
  }
  if (IS(sum_by_all_not_atomic)) {
    *sum += own;
    return;
  }
  shared[thread] = own;
  if (!IS(no_barrier)) __syncthreads();
  for (int half = 32; half > (IS(one_step_less) ? 1 : 0); half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    if (!IS(no_barrier)) __syncthreads();
  }
  unsigned block = shared[0];
  if (IS(sum_in_short)) block = (unsigned short)block;
  if (IS(sum_in_char)) block = (unsigned char)block;
  if (thread != 0) return;
  if (IS(sum_overwritten)) {
    *sum = block;
  } else if (IS(sum_not_atomic)) {
    *sum = *sum + block;
  } else {
    atomicAdd(sum, block);
  }
}
