// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/transpose.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tuner {

/// How the matrices of a batch are stored, row after row.
struct MatrixLayout {
  std::int64_t rows = 0,
               columns = 0;  ///< as stored, so those of an operand before its transposition
  std::int64_t ld = 0;       ///< elements from one row to the next
  std::int64_t stride = 0;   ///< elements from one matrix of the batch to the next
};

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

}  // namespace tuner
