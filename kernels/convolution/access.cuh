// SPDX-License-Identifier: Apache-2.0
// Vector loads, copies and stores.
#pragma once

#include "common/integers.cuh"
#include "common/vector.cuh"

#if __CUDA_ARCH__ >= 800
#define HAS_COPY_ASYNC
#endif

/// Loads data that no thread writes, through the read-only cache.
template <int COUNT>
__device__ __forceinline__ Floats<COUNT> load_constant(const float* from) {
  Floats<COUNT> value;
#ifdef __CUDA_ARCH__
  if constexpr (COUNT == 4) {
    const float4 loaded = __ldg(reinterpret_cast<const float4*>(from));
    value = {loaded.x, loaded.y, loaded.z, loaded.w};
  } else if constexpr (COUNT == 2) {
    const float2 loaded = __ldg(reinterpret_cast<const float2*>(from));
    value = {loaded.x, loaded.y};
  } else {
    value = {__ldg(from)};
  }
#else
  value = *reinterpret_cast<const Floats<COUNT>*>(from);
#endif
  return value;
}

/// Copies COUNT floats to shared memory, or zeros unless `exists`. ASYNC: by cp.async, complete
/// after await_copies.
template <bool ASYNC, int COUNT>
__device__ __forceinline__ void copy(float* to, const float* from, bool exists) {
#ifdef HAS_COPY_ASYNC
  if constexpr (ASYNC) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from),
                 "n"(COUNT * 4), "r"(exists ? COUNT * 4 : 0));
    return;
  }
#endif
  *reinterpret_cast<Floats<COUNT>*>(to) = exists ? load_constant<COUNT>(from) : Floats<COUNT>{};
}

/// Waits until this thread's copies are complete.
__device__ __forceinline__ void await_copies() {
#ifdef HAS_COPY_ASYNC
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Stores the first `count` values of a row, in vectors of VEC.
template <int VEC, int TILE_X>
__device__ __forceinline__ void store_row(float* to, const float (&values)[TILE_X], int count) {
  constexpr int WIDTH = VEC < TILE_X ? VEC : TILE_X;
#pragma unroll
  for (int x = 0; x < TILE_X; x += WIDTH) {
    if (x >= count) continue;
    Floats<WIDTH> vector;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) vector.at[i] = values[x + i];
    *reinterpret_cast<Floats<WIDTH>*>(to + x) = vector;
  }
}
