// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/transpose.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace tuner::family
