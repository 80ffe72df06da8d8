// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/element_type.hpp"
#include "tuner/family/epilogue.hpp"
#include "tuner/family/geam_shape.hpp"
#include "tuner/family/gemm_shape.hpp"

#include <optional>
#include <variant>

namespace tuner::family {

/// A product or a sum of matrices.
using LibraryShape = std::variant<GemmShape, GeamShape>;

/// An operation of the platform's BLAS in full precision, as tuning times it and applications
/// launch it. A batch is one call where the library has one for batches.
struct LibraryOperation {
  [[nodiscard]] ElementType result_type() const { return result.value_or(type); }

  ElementType type;                        ///< of the matrices
  std::optional<ElementType> result = {};  ///< of C where it has another
  LibraryShape shape = {};                 ///< as check_shape allows
  /// Sums of e4m3 may have the precision of the tensor cores' own, about 14 bits.
  bool fast_sums = false;
  Epilogue epilogue = {};  ///< of a product
};

/// A type that holds every number of a type of operands, and in which libraries multiply in all
/// layouts with sums in float.
[[nodiscard]] constexpr ElementType wider_operand(ElementType type) {
  if (type == ElementType::e4m3) return ElementType::bf16;
  return type == ElementType::tf32 ? ElementType::f32 : type;
}

/// Whether the platform's libraries multiply matrices of a type to one of `result`: float and
/// double; of bf16 and f16, with sums in float, to the type itself or float; of tf32 to float; of
/// e4m3 to bf16, f16 or float; of s8 to s32.
[[nodiscard]] constexpr bool library_multiplies(ElementType type, ElementType result) {
  using enum ElementType;
  if (type == f32 || type == f64) return result == type;
  if (type == s8) return result == s32;
  if (type == tf32) return result == f32;
  if (type == e4m3) return result == bf16 || result == f16 || result == f32;
  return (type == bf16 || type == f16) && (result == type || result == f32);
}

/// Whether they add such matrices, or transpose them: u8 and u16 on a host only.
[[nodiscard]] constexpr bool library_adds(ElementType type) {
  using enum ElementType;
  return type == f32 || type == f64 || type == u16 || type == u8;
}

}  // namespace tuner::family
