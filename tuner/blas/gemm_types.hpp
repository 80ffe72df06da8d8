// SPDX-License-Identifier: Apache-2.0
// Module blas: an operation of BLAS described once: shapes, types, epilogue, operands. It computes
// nothing; backends, dispatcher and preloaded library share it.
//
// The table of GemmType.
#pragma once

#include "tuner/blas/product.hpp"
#include "tuner/core/element_type.hpp"

#include <array>
#include <cstddef>

namespace tuner::blas {

/// What a GemmType says.
struct GemmTypeRow {
  GemmType type;
  const char* name;                       ///< of the function in messages
  ElementType matrices, result, factors;  ///< of A and B; of C; of sums, alpha and beta
};

inline constexpr std::size_t kGemmTypes = 9;
/// In the order of GemmType.
inline constexpr std::array<GemmTypeRow, kGemmTypes> kGemmTypeRows = {{
    {GemmType::f32, "sgemm", ElementType::f32, ElementType::f32, ElementType::f32},
    {GemmType::bf16, "gemm of bf16", ElementType::bf16, ElementType::bf16, ElementType::f32},
    {GemmType::f16, "gemm of f16", ElementType::f16, ElementType::f16, ElementType::f32},
    {GemmType::f64, "gemm of f64", ElementType::f64, ElementType::f64, ElementType::f64},
    {GemmType::s8, "gemm of s8", ElementType::s8, ElementType::s32, ElementType::s32},
    {GemmType::bf16_f32, "gemm of bf16 to f32", ElementType::bf16, ElementType::f32,
     ElementType::f32},
    {GemmType::f16_f32, "gemm of f16 to f32", ElementType::f16, ElementType::f32, ElementType::f32},
    {GemmType::tf32, "gemm of tf32", ElementType::tf32, ElementType::f32, ElementType::f32},
    {GemmType::e4m3, "gemm of e4m3", ElementType::e4m3, ElementType::bf16, ElementType::f32},
}};
static_assert([] {
  for (std::size_t i = 0; i < kGemmTypes; ++i) {
    if (kGemmTypeRows[i].type != static_cast<GemmType>(i)) return false;
  }
  return true;
}());

}  // namespace tuner::blas
