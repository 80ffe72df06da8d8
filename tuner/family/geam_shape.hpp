// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/matrix_layout.hpp"

#include <cstdint>

namespace tuner::family {

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

}  // namespace tuner::family
