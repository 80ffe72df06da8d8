// SPDX-License-Identifier: Apache-2.0
// The types of elements that tensor cores multiply.
#pragma once

#include "common/element.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
struct IsBf16 {
  static constexpr bool value = false;
};
template <>
struct IsBf16<__nv_bfloat16> {
  static constexpr bool value = true;
};
/// Of __nv_bfloat16, __half, float, __nv_fp8_e4m3 and signed char.
enum class OperandType { bf16, f16, tf32, e4m3, s8 };
template <class T>
struct OperandTypeOf {
  static constexpr OperandType value = sizeof(T) == 4     ? OperandType::tf32
                                       : sizeof(T) == 1   ? OperandType::e4m3
                                       : IsBf16<T>::value ? OperandType::bf16
                                                          : OperandType::f16;
};
template <>
struct OperandTypeOf<signed char> {
  static constexpr OperandType value = OperandType::s8;
};
/// Steps of K of one product: 32 bytes of a row.
template <class T>
constexpr int PRODUCT_DEPTH = 32 / static_cast<int>(sizeof(T));
