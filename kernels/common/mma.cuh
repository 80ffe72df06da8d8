// SPDX-License-Identifier: Apache-2.0
// Products of matrices in a warp's registers by the tensor cores (mma), with a version for the
// host. Compute capability 8.0.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// sum += rows * columns, of 16 rows, 8 columns and 16 steps of K; all lanes of a warp call it. T:
/// __nv_bfloat16 or __half. A word has two elements that are neighbours along K. With g = lane / 4
/// and t = lane % 4, a lane has
///
///   rows[i]     of row g + 8 * (i % 2), the steps 2 * t + 8 * (i / 2) and the next
///   columns[i]  of column g, the steps 2 * t + 8 * i and the next
///   sum[i]      of row g + 8 * (i / 2), column 2 * t + i % 2
template <class T>
__device__ __forceinline__ void multiply_16x8x16(float (&sum)[4], const unsigned (&rows)[4],
                                                 const unsigned (&columns)[2]);

#ifndef TUNER_CPU_BACKEND
#define MULTIPLY_16X8X16(TYPE)                                                            \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                     \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"     \
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                   \
               : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(columns[0]), \
                 "r"(columns[1]))
template <>
__device__ __forceinline__ void multiply_16x8x16<__nv_bfloat16>(float (&sum)[4],
                                                                const unsigned (&rows)[4],
                                                                const unsigned (&columns)[2]) {
  MULTIPLY_16X8X16("bf16");
}
template <>
__device__ __forceinline__ void multiply_16x8x16<__half>(float (&sum)[4], const unsigned (&rows)[4],
                                                         const unsigned (&columns)[2]) {
  MULTIPLY_16X8X16("f16");
}
#undef MULTIPLY_16X8X16
#else
template <class T>
inline void multiply_16x8x16(float (&sum)[4], const unsigned (&rows)[4],
                             const unsigned (&columns)[2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto element = [](unsigned word, int i) {
    T pair[2];
    __builtin_memcpy(pair, &word, sizeof word);
    return static_cast<float>(pair[i]);
  };
  for (int t = 0; t < 4; ++t) {    // lanes that have steps of K
    for (int i = 0; i < 2; ++i) {  // words along K
      const unsigned row[2] = {__shfl_sync(0xffffffffu, rows[2 * i], lane / 4 * 4 + t),
                               __shfl_sync(0xffffffffu, rows[2 * i + 1], lane / 4 * 4 + t)};
      const unsigned column[2] = {__shfl_sync(0xffffffffu, columns[i], lane % 4 * 8 + t),
                                  __shfl_sync(0xffffffffu, columns[i], lane % 4 * 8 + 4 + t)};
      for (int at = 0; at < 4; ++at) {
        for (int k = 0; k < 2; ++k) sum[at] += element(row[at / 2], k) * element(column[at % 2], k);
      }
    }
  }
}
#endif
