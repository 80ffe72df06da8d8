// SPDX-License-Identifier: Apache-2.0
// Matrices from shared memory to the registers of a warp (ldmatrix), with a version for the host.
// Compute capability 7.5.
#pragma once

#include "common/shared_memory.cuh"

/// Loads four matrices of 8 rows of 16 bytes; all lanes of a warp call it. `address`: of row
/// lane % 8 of matrix lane / 8 in shared memory, a multiple of 16. With g = lane / 4 and
/// t = lane % 4, words[i] is of matrix i:
///
///   the 4 bytes from 4 * t on of row g
///   TRANSPOSED  the 2 bytes from 2 * g on of row 2 * t, and of row 2 * t + 1 in the upper half
template <bool TRANSPOSED>
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned address) {
#ifndef TUNER_CPU_BACKEND
  if constexpr (TRANSPOSED) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  }
#else
  if (address % 16 != 0) __trap();
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  struct Words {
    unsigned at[4];
  };
  const auto loaded = tuner::exchange(0xffffffffu, address, [&](const unsigned long long* rows) {
    Words read;
    for (int i = 0; i < 4; ++i) {
      const auto half = [&](int row) -> unsigned {
        return *at_shared_address<unsigned short>(static_cast<unsigned>(rows[8 * i + row]) + 2 * g);
      };
      read.at[i] =
          TRANSPOSED ? half(2 * t) | half(2 * t + 1) << 16
                     : *at_shared_address<unsigned>(static_cast<unsigned>(rows[8 * i + g]) + 4 * t);
    }
    return read;
  });
  for (int i = 0; i < 4; ++i) words[i] = loaded.at[i];
#endif
}

/// Loads 4 bytes from a shared memory address.
__device__ __forceinline__ unsigned load_word(unsigned address) {
#ifndef TUNER_CPU_BACKEND
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
#else
  return *at_shared_address<unsigned>(address);
#endif
}
