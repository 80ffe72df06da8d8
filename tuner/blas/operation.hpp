// SPDX-License-Identifier: Apache-2.0
// An operation of the platform's BLAS, described once for whatever times it, launches it or checks
// it: shape, types, what follows it, and the operands that it works on.
#pragma once

#include "tuner/blas/product.hpp"
#include "tuner/core/element_type.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tuner::blas {

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

/// Whether the matrices of a batch lie one behind the other.
[[nodiscard]] inline bool is_packed(const MatrixLayout& layout) {
  return layout.stride == layout.rows * layout.ld;
}

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

/// The first dimensions of a family of products, in their order, and the numbers of a shape in
/// them.
inline constexpr std::array<std::string_view, 9> kGemmDimensions = {
    "M", "N", "K", "BATCH", "TRANS_A", "TRANS_B", "LDA", "LDB", "LDC"};
[[nodiscard]] inline std::array<std::int64_t, kGemmDimensions.size()> gemm_numbers(
    const GemmShape& shape) {
  return {shape.m,
          shape.n,
          shape.k,
          shape.batch,
          shape.trans_a == Transpose::yes,
          shape.trans_b == Transpose::yes,
          shape.a.ld,
          shape.b.ld,
          shape.c.ld};
}

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
using Shape = std::variant<GemmShape, GeamShape>;

/// An operation in full precision, as tuning times it and applications launch it. A batch is one
/// call where the library has one for batches.
struct Operation {
  [[nodiscard]] ElementType result_type() const { return result.value_or(type); }

  ElementType type;                        ///< of the matrices
  std::optional<ElementType> result = {};  ///< of C where it has another
  Shape shape = {};                        ///< as check_shape allows
  /// Sums of e4m3 may have the precision of the tensor cores' own, about 14 bits.
  bool fast_sums = false;
  Epilogue epilogue = {};  ///< of a product
};

/// The places of the operands of a product or a sum among those of an operation.
inline constexpr std::size_t kA = 0, kB = 1, kC = 2, kBias = 3, kResidual = 4;
/// The most operands of an operation.
inline constexpr std::size_t kMostOperands = 5;

/// What an operation reads or writes; a vector is a matrix of one row.
struct Operand {
  MatrixLayout layout;
  std::int64_t batch = 1;  ///< as of elements()
  ElementType type;

  /// From the first element to the last.
  [[nodiscard]] std::size_t size_bytes() const {
    return tuner::bytes_of(type, elements(layout, batch));
  }
};
/// The operands of an operation, nothing at the places of those that it does not have. Throws as
/// check_shape.
[[nodiscard]] std::array<std::optional<Operand>, kMostOperands> operands_of(
    const Operation& operation);

/// Where the operands of an operation lie, the first matrix of each batch, and its factors. Places
/// of operands that it does not have are not read. Of a sum without B, that is C.
template <class Place>
struct Operands {
  [[nodiscard]] Place& operator[](std::size_t operand) { return places[operand]; }
  [[nodiscard]] const Place& operator[](std::size_t operand) const { return places[operand]; }

  double alpha = 1, beta = 0;
  std::array<Place, kMostOperands> places = {};
};
/// Operands by their addresses in memory.
using Addresses = Operands<const void*>;
/// The address of C, the only operand that is written.
[[nodiscard]] inline void* result_address(const Addresses& operands) {
  return const_cast<void*>(operands[kC]);
}

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

/// Whether cublasLt alone of NVIDIA's libraries has products of matrices of a type.
[[nodiscard]] constexpr bool only_lt_multiplies(ElementType type) {
  return type == ElementType::e4m3;
}
/// Whether cublasLt alone has an operation.
[[nodiscard]] inline bool only_lt_has(const Operation& operation) {
  return only_lt_multiplies(operation.type) || !operation.epilogue.is_none();
}

/// Whether libraries add such matrices, or transpose them: u8 and u16 on a host only.
[[nodiscard]] constexpr bool library_adds(ElementType type) {
  using enum ElementType;
  return type == f32 || type == f64 || type == u16 || type == u8;
}

}  // namespace tuner::blas
