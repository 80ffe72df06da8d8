// SPDX-License-Identifier: Apache-2.0
// Shared memory by address, as the instructions of compute capability 9.0 take it.
#pragma once

/// The block's dynamic shared memory, aligned to 1024 bytes.
__device__ __forceinline__ unsigned char* dynamic_shared() {
#ifndef TUNER_CPU_BACKEND
  extern __shared__ __align__(1024) unsigned char memory[];
  return memory;
#else
  return static_cast<unsigned char*>(tuner::context->dynamic_shared);
#endif
}

/// The shared memory address of what lies in dynamic_shared().
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
#ifndef TUNER_CPU_BACKEND
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
#else
  return static_cast<unsigned>(static_cast<const unsigned char*>(pointer) - dynamic_shared());
#endif
}

#ifdef TUNER_CPU_BACKEND
/// What lies at a shared memory address.
template <class T>
T* at_shared_address(unsigned address) {
  return reinterpret_cast<T*>(dynamic_shared() + address);
}
#endif

/// Stores 4, 8 or 16 bytes at a shared memory address.
template <class T>
__device__ __forceinline__ void store_to_shared(unsigned address, const T& value) {
#ifndef TUNER_CPU_BACKEND
  constexpr int WORDS = sizeof(T) / 4;
  static_assert(sizeof(T) == 4 * WORDS && (WORDS == 1 || WORDS == 2 || WORDS == 4));
  const unsigned* const word = reinterpret_cast<const unsigned*>(&value);
  if constexpr (WORDS == 1) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(word[0]) : "memory");
  } else if constexpr (WORDS == 2) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(word[0]), "r"(word[1])
                 : "memory");
  } else {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(word[0]),
                 "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
  }
#else
  *at_shared_address<T>(address) = value;
#endif
}

/// The 128-byte swizzle: in every 1024 bytes, the 16-byte pieces of row i are in the order of their
/// number xor i. The same for copies and for wgmma, since it depends on the address alone.
__device__ constexpr unsigned swizzled_128(unsigned address) {
  return address ^ (address >> 3 & 0x70u);
}
