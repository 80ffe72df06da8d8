// SPDX-License-Identifier: Apache-2.0
// Products of matrices in a warp's registers (mma), of all types of operands, with a version for
// the host. Compute capability 8.0; of e4m3 8.9.
#pragma once

#include "common/mma.cuh"
#ifdef TUNER_CPU_BACKEND
#include "common/wgmma.cuh"  // for added_up

/// The numbers in 32 bytes of K of a row (or column): words[i] of lane t of four has the 4 bytes
/// from 4 * t + 16 * i on.
template <class T>
struct OperandRow {
  Sum<T> at[PRODUCT_DEPTH<T>];

  OperandRow(const unsigned long long* of_lanes) {
    T elements[PRODUCT_DEPTH<T>];
    for (int t = 0; t < 4; ++t) {
      unsigned words[2];
      __builtin_memcpy(words, of_lanes + t, sizeof words);
      for (int i = 0; i < 2; ++i) {
        // Tensor cores do not read the lower 13 bits of tf32.
        if constexpr (sizeof(T) == 4) words[i] &= ~0x1fffu;
        __builtin_memcpy(reinterpret_cast<char*>(elements) + 4 * t + 16 * i, &words[i], 4);
      }
    }
    for (int k = 0; k < PRODUCT_DEPTH<T>; ++k) at[k] = static_cast<Sum<T> >(elements[k]);
  }
};
#endif

/// As multiply_16x8, also of tf32: numbers of single precision without their lower 13 bits. The
/// host adds as wgmma does: at once, and products of e4m3 cut.
template <class T>
__device__ __forceinline__ void multiply_any_16x8(Sum<T> (&sum)[4], const unsigned (&rows)[4],
                                                  const unsigned (&columns)[2]) {
#ifndef TUNER_CPU_BACKEND
  if constexpr (OperandTypeOf<T>::value == OperandType::tf32) {
    MULTIPLY_16X8("k8.row.col.f32.tf32.tf32.f32", "+f");
  } else {
    multiply_16x8<T>(sum, rows, columns);
  }
#else
  using Row = OperandRow<T>;
  struct Rows {
    Row first, second;
  };
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  const auto pair = [](unsigned low, unsigned high) {
    return low | static_cast<unsigned long long>(high) << 32;
  };
  const auto of_own_row = [&](const unsigned long long* slots) { return Row(slots + 4 * g); };
  const Row upper = tuner::exchange(0xffffffffu, pair(rows[0], rows[2]), of_own_row);
  const Row lower = tuner::exchange(0xffffffffu, pair(rows[1], rows[3]), of_own_row);
  const Rows both = tuner::exchange(0xffffffffu, pair(columns[0], columns[1]),
                                    [&](const unsigned long long* slots) {
                                      return Rows{Row(slots + 8 * t), Row(slots + 8 * t + 4)};
                                    });
  sum[0] = added_up<T>(sum[0], upper.at, both.first.at);
  sum[1] = added_up<T>(sum[1], upper.at, both.second.at);
  sum[2] = added_up<T>(sum[2], lower.at, both.first.at);
  sum[3] = added_up<T>(sum[3], lower.at, both.second.at);
#endif
}
