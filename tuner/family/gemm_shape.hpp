// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/matrix_layout.hpp"

#include <cstdint>

namespace tuner::family {

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

}  // namespace tuner::family
