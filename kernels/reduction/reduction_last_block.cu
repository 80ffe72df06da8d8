// SPDX-License-Identifier: Apache-2.0
// *sum = x[0] + … + x[N - 1] in one launch, added in Sum<T>. Each block stores the sum of its part;
// the last block to arrive adds these partial sums in a fixed order: equal inputs give equal bits,
// without atomics on floats.
//
// A step is BLOCK * UNROLL vectors of VEC elements. The steps of a block are strided by the grid
// or, CHUNKED, contiguous. A thread adds its UNROLL vectors of a step in a tree, and steps in
// sequence.
//
// Grid (blocks), block (BLOCK). x is aligned to VEC elements. `partials` has a sum for each block,
// `arrivals` is a counter, zero before and after. LOAD: see common/cached_access.cuh.

#include "common/cached_access.cuh"
#include "common/element.cuh"

/// Reads what another block wrote, from the L2 cache.
template <class T>
__device__ __forceinline__ T load_from_l2(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldcg(from);
#else
  return *from;
#endif
}

/// The sum over the threads of the block, returned in the first one. `warp_sums` has one for
/// each warp and is overwritten.
template <int BLOCK, class T>
__device__ __forceinline__ T sum_of_block(T value, T* warp_sums) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, apart);
  }
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  value = threadIdx.x < BLOCK / 32 ? warp_sums[threadIdx.x] : T(0);
#pragma unroll
  for (int apart = BLOCK / 64; apart > 0; apart /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, apart);
  }
  return value;
}

/// Whether this block is the last to arrive. It can then read what the others wrote, and it resets
/// the counter for the next launch.
__device__ __forceinline__ bool is_last_block(unsigned* arrivals) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrivals, 1u) == gridDim.x - 1;
    if (last) *arrivals = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// Numbers in the type of their sums.
template <class T, int COUNT>
__device__ __forceinline__ Vector<Sum<T>, COUNT> as_sums(const Vector<T, COUNT>& from) {
  Vector<Sum<T>, COUNT> sums;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) sums.at[i] = Sum<T>(from.at[i]);
  return sums;
}

template <int COUNT>
__device__ __forceinline__ Floats<COUNT> as_sums(const Floats<COUNT>& from) {
  return from;
}

template <class T, int VEC, int BLOCK, int UNROLL, int LOAD, bool CHUNKED>
__global__ void __launch_bounds__(BLOCK)
    reduction_last_block(int N, const T* __restrict__ x, Sum<T>* sum, Sum<T>* partials,
                         unsigned* arrivals) {
  constexpr int STEP = BLOCK * UNROLL;
  const int thread = threadIdx.x;
  const int vectors = N / VEC;
  const int steps = (vectors + STEP - 1) / STEP;
  const int chunk = (steps + gridDim.x - 1) / gridDim.x;
  const int begin = CHUNKED ? blockIdx.x * chunk : blockIdx.x;
  const int end = CHUNKED && chunk < steps - begin ? begin + chunk : steps;
  const int apart = CHUNKED ? 1 : gridDim.x;

  Vector<Sum<T>, VEC> total = {};
  for (int step = begin; step < end; step += apart) {
    const int first = step * STEP + thread;
    const bool whole = vectors - step * STEP >= STEP;
    Vector<Sum<T>, VEC> value[UNROLL] = {};
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const int at = first + i * BLOCK;
      if (whole || at < vectors) {
        value[i] = as_sums(load<LOAD, VEC>(x + static_cast<long long>(at) * VEC));
      }
    }
#pragma unroll
    for (int half = UNROLL / 2; half > 0; half /= 2) {
#pragma unroll
      for (int i = 0; i < half; ++i) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) value[i].at[j] += value[i + half].at[j];
      }
    }
#pragma unroll
    for (int j = 0; j < VEC; ++j) total.at[j] += value[0].at[j];
  }
  Sum<T> thread_sum = 0;
#pragma unroll
  for (int j = 0; j < VEC; ++j) thread_sum += total.at[j];
  const int tail = vectors * VEC + thread;  // elements after the last whole vector
  if (blockIdx.x == 0 && tail < N) thread_sum += Sum<T>(x[tail]);

  __shared__ Sum<T> warp_sums[2][BLOCK / 32];
  Sum<T> block_sum = sum_of_block<BLOCK>(thread_sum, warp_sums[0]);
  if (gridDim.x > 1) {
    if (thread == 0) partials[blockIdx.x] = block_sum;
    if (!is_last_block(arrivals)) return;
    thread_sum = 0;
    for (int i = thread; i < gridDim.x; i += BLOCK) thread_sum += load_from_l2(partials + i);
    block_sum = sum_of_block<BLOCK>(thread_sum, warp_sums[1]);
  }
  if (thread == 0) *sum = block_sum;
}
