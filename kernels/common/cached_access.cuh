// SPDX-License-Identifier: Apache-2.0
// Vector loads and stores with cache hints.
#pragma once

#include "common/vector.cuh"

// The L2 prefetch size needs compute capability 8.0.
#if __CUDA_ARCH__ >= 800
#define PREFETCH_L2 ".L2::256B"
#else
#define PREFETCH_L2 ""
#endif

#define LOAD_AS(hint)                                                                         \
  if constexpr (COUNT == 4) {                                                                 \
    asm volatile("ld.global" hint ".v4.f32 {%0, %1, %2, %3}, [%4];"                           \
                 : "=f"(value.at[0]), "=f"(value.at[1]), "=f"(value.at[2]), "=f"(value.at[3]) \
                 : "l"(from));                                                                \
  } else if constexpr (COUNT == 2) {                                                          \
    asm volatile("ld.global" hint ".v2.f32 {%0, %1}, [%2];"                                   \
                 : "=f"(value.at[0]), "=f"(value.at[1])                                       \
                 : "l"(from));                                                                \
  } else {                                                                                    \
    asm volatile("ld.global" hint ".f32 %0, [%1];" : "=f"(value.at[0]) : "l"(from));          \
  }

/// Loads with a cache hint. HINT 0: none. 1: read-only, not allocated in L1. 2: as 1, prefetched to
/// L2 in 256 bytes. 3: evict first.
template <int HINT, int COUNT>
__device__ __forceinline__ Floats<COUNT> load(const float* from) {
#ifdef __CUDA_ARCH__
  Floats<COUNT> value;
  if constexpr (HINT == 0) {
    value = *reinterpret_cast<const Floats<COUNT>*>(from);
  } else if constexpr (HINT == 1) {
    LOAD_AS(".nc.L1::no_allocate")
  } else if constexpr (HINT == 2) {
    LOAD_AS(".nc.L1::no_allocate" PREFETCH_L2)
  } else {
    LOAD_AS(".cs")
  }
  return value;
#else
  return *reinterpret_cast<const Floats<COUNT>*>(from);
#endif
}
#undef LOAD_AS
#undef PREFETCH_L2

/// Loads other elements: as words, where they fill some; else without a hint.
template <int HINT, int COUNT, class T>
__device__ __forceinline__ Vector<T, COUNT> load(const T* from) {
  constexpr int WORDS = COUNT * sizeof(T) / 4;
  if constexpr (WORDS > 0) {
    union {
      Floats<WORDS> words;
      Vector<T, COUNT> vector;
    } read = {load<HINT, WORDS>(reinterpret_cast<const float*>(from))};
    return read.vector;
  } else {
    return *reinterpret_cast<const Vector<T, COUNT>*>(from);
  }
}

/// Stores with a cache hint. HINT 0: none. 1: evict first.
template <int HINT, int COUNT>
__device__ __forceinline__ void store(float* to, const Floats<COUNT>& value) {
#ifdef __CUDA_ARCH__
  if constexpr (HINT == 1 && COUNT == 4) {
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(value.at[0]),
                 "f"(value.at[1]), "f"(value.at[2]), "f"(value.at[3])
                 : "memory");
    return;
  } else if constexpr (HINT == 1 && COUNT == 2) {
    asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(value.at[0]), "f"(value.at[1])
                 : "memory");
    return;
  } else if constexpr (HINT == 1) {
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(to), "f"(value.at[0]) : "memory");
    return;
  }
#endif
  *reinterpret_cast<Floats<COUNT>*>(to) = value;
}

/// Stores other elements: as words, where they fill some; else without a hint.
template <int HINT, int COUNT, class T>
__device__ __forceinline__ void store(T* to, const Vector<T, COUNT>& value) {
  constexpr int WORDS = COUNT * sizeof(T) / 4;
  if constexpr (WORDS > 0) {
    union {
      Vector<T, COUNT> vector;
      Floats<WORDS> words;
    } written = {value};
    store<HINT>(reinterpret_cast<float*>(to), written.words);
  } else {
    *reinterpret_cast<Vector<T, COUNT>*>(to) = value;
  }
}
