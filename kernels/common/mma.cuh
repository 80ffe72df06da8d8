// SPDX-License-Identifier: Apache-2.0
// Products of matrices in a warp's registers by the tensor cores (mma), with a version for the
// host. Compute capability 8.0; of e4m3 8.9.
#pragma once

#include "common/operand_type.cuh"

#ifndef TUNER_CPU_BACKEND
// KIND: depth and types in the instruction. C: the constraint of a sum.
#define MULTIPLY_16X8(KIND, C)                                                            \
  asm volatile("mma.sync.aligned.m16n8" KIND                                              \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"         \
               : C(sum[0]), C(sum[1]), C(sum[2]), C(sum[3])                               \
               : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(columns[0]), \
                 "r"(columns[1]))
#endif

/// sum += rows * columns, of 16 rows, 8 columns and 32 bytes of K; all lanes of a warp call it. A
/// word has elements that are neighbours along K. With g = lane / 4 and t = lane % 4, a lane has
///
///   rows[i]     of row g + 8 * (i % 2), the 4 bytes of K from 4 * t + 16 * (i / 2) on
///   columns[i]  of column g, the 4 bytes of K from 4 * t + 16 * i on
///   sum[i]      of row g + 8 * (i / 2), column 2 * t + i % 2
template <class T>
__device__ __forceinline__ void multiply_16x8(Sum<T> (&sum)[4], const unsigned (&rows)[4],
                                              const unsigned (&columns)[2]) {
#ifndef TUNER_CPU_BACKEND
  constexpr OperandType TYPE = OperandTypeOf<T>::value;
  static_assert(TYPE != OperandType::tf32, "operands of 8 and 16 bits");
  if constexpr (TYPE == OperandType::bf16) {
    MULTIPLY_16X8("k16.row.col.f32.bf16.bf16.f32", "+f");
  } else if constexpr (TYPE == OperandType::f16) {
    MULTIPLY_16X8("k16.row.col.f32.f16.f16.f32", "+f");
  } else if constexpr (TYPE == OperandType::e4m3) {
    MULTIPLY_16X8("k32.row.col.f32.e4m3.e4m3.f32", "+f");
  } else {
    MULTIPLY_16X8("k32.row.col.s32.s8.s8.s32", "+r");
  }
#else
  constexpr int NEIGHBOURS = 4 / static_cast<int>(sizeof(T));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto element = [](unsigned word, int i) {
    T elements[NEIGHBOURS];
    __builtin_memcpy(elements, &word, sizeof word);
    return static_cast<Sum<T> >(elements[i]);
  };
  for (int t = 0; t < 4; ++t) {    // lanes that have steps of K
    for (int i = 0; i < 2; ++i) {  // words along K
      const unsigned row[2] = {__shfl_sync(0xffffffffu, rows[2 * i], lane / 4 * 4 + t),
                               __shfl_sync(0xffffffffu, rows[2 * i + 1], lane / 4 * 4 + t)};
      const unsigned column[2] = {__shfl_sync(0xffffffffu, columns[i], lane % 4 * 8 + t),
                                  __shfl_sync(0xffffffffu, columns[i], lane % 4 * 8 + 4 + t)};
      for (int at = 0; at < 4; ++at) {
        for (int k = 0; k < NEIGHBOURS; ++k) {
          sum[at] += element(row[at / 2], k) * element(column[at % 2], k);
        }
      }
    }
  }
#endif
}
