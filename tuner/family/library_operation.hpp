// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/element_type.hpp"
#include "tuner/family/epilogue.hpp"
#include "tuner/family/transpose.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tuner::family {

/// How the matrices of a batch are stored, row after row.
struct MatrixLayout {
  std::int64_t rows = 0,
               columns = 0;  ///< as stored, so those of an operand before its transposition
  std::int64_t ld = 0;       ///< elements from one row to the next
  std::int64_t stride = 0;   ///< elements from one matrix of the batch to the next
};

/// A matrix that is rows×columns once op has been applied: rows without padding, matrices one
/// behind the other. `operation` begins the message of the Error(usage) that is thrown when no
/// memory holds it.
[[nodiscard]] MatrixLayout packed_matrix(std::string_view operation, std::int64_t rows,
                                         std::int64_t columns, Transpose transpose);

/// Throws Error(usage) when no library could take such an operand: a row longer than its leading
/// dimension, a negative stride, more elements than any memory holds. `name` is the matrix's
/// letter.
void check_layout(std::string_view operation, char name, const MatrixLayout& layout,
                  std::int64_t batch);

/// Whether row i of all matrices comes before row i + 1 of any.
[[nodiscard]] bool interleaved(const MatrixLayout& layout, std::int64_t batch);

/// Elements from the first of a batch's first matrix to the last of its last one.
[[nodiscard]] std::int64_t elements(const MatrixLayout& layout, std::int64_t batch);

/// The elements that belong to the matrices of a batch: those at
/// outer·outer_step + inner·inner_step + column.
struct MatrixElements {
  std::int64_t outer_count, outer_step, inner_count, inner_step, columns;
};
/// Absent where matrices overlap in part, so that a place can belong to several.
[[nodiscard]] std::optional<MatrixElements> matrix_elements(const MatrixLayout& layout,
                                                            std::int64_t batch);

/// "row 1, column 6", with "matrix 2, " before it in a batch of several, as stored; or "between the
/// rows"; empty where matrices overlap in part.
[[nodiscard]] std::string place_name(const MatrixLayout& layout, std::int64_t batch,
                                     std::int64_t index);

/// A batch of row-major products C = alpha·op(A)·op(B) + beta·C: op(A) is m×k, op(B) k×n and C m×n,
/// where op(X) is X or its transpose.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  Transpose trans_a = Transpose::no, trans_b = Transpose::no;
  std::int64_t batch = 1;
  MatrixLayout a, b, c;
};

/// Rows without padding; matrices one behind the other.
[[nodiscard]] GemmShape packed_gemm(std::int64_t m, std::int64_t n, std::int64_t k,
                                    Transpose trans_a = Transpose::no,
                                    Transpose trans_b = Transpose::no, std::int64_t batch = 1);

/// Throws Error(usage) when no library could multiply so: a row longer than its leading dimension,
/// a negative number, matrices of C that overlap, or more elements than any memory holds.
void check_shape(const GemmShape& shape);

/// A row-major sum C = alpha·op(A) + beta·op(B), all m×n, where op(X) is X or its transpose. Where
/// there is no B it is C itself with beta 0, and is not read.
struct GeamShape {
  /// As GemmShape::batch: BLAS has no batches of this operation.
  static constexpr std::int64_t batch = 1;  // NOLINT(readability-identifier-naming): as a member

  std::int64_t m = 0, n = 0;
  Transpose trans_a = Transpose::no, trans_b = Transpose::no;
  MatrixLayout a, b, c;
};

/// Rows without padding.
[[nodiscard]] GeamShape packed_geam(std::int64_t m, std::int64_t n,
                                    Transpose trans_a = Transpose::no,
                                    Transpose trans_b = Transpose::no);

/// Throws Error(usage) when no library could add so: a row longer than its leading dimension, a
/// negative number, or more elements than any memory holds.
void check_shape(const GeamShape& shape);

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
