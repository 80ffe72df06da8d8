// SPDX-License-Identifier: Apache-2.0
// Sums and transpositions of matrices with their right results, for what adds by a library.
#pragma once

#include "gemm_case.hpp"
#include "tuner/blas/operation.hpp"

#include <vector>

namespace tuner::testing_support {

/// Plain, each transposed, both, and padded rows.
inline std::vector<blas::GeamShape> geam_shapes() {
  std::vector<blas::GeamShape> shapes;
  for (const Transpose a : {Transpose::no, Transpose::yes}) {
    for (const Transpose b : {Transpose::no, Transpose::yes}) {
      shapes.push_back(blas::packed_geam(37, 53, a, b));
      blas::GeamShape padded = blas::packed_geam(70, 5, a, b);
      padded.a.ld += 3;
      padded.b.ld += 1;
      padded.c.ld += 2;
      shapes.push_back(padded);
    }
  }
  return shapes;
}

/// Operands of whole numbers and alpha·op(A) + beta·op(B), as gemm_case. A factor of 0 leaves its
/// matrix unread, which is all NaN then.
template <class T>
GemmCase<T> geam_case(const blas::GeamShape& shape, T alpha, T beta) {
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  GemmCase<T> made{.a = detail::operand<T>(shape.a, 1, kNaN, 1),
                   .b = detail::operand<T>(shape.b, 1, kNaN, 2),
                   .c = detail::operand<T>(shape.c, 1, T(-1001), 3),
                   .result = {}};
  if (alpha == 0) made.a.assign(made.a.size(), kNaN);
  if (beta == 0) made.b.assign(made.b.size(), kNaN);
  made.result = made.c;
  const auto of = [](const std::vector<T>& values, const blas::MatrixLayout& layout,
                     Transpose transpose, std::int64_t row, std::int64_t column) {
    const bool turned = transpose == Transpose::yes;
    return values[static_cast<std::size_t>((turned ? column : row) * layout.ld +
                                           (turned ? row : column))];
  };
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t column = 0; column < shape.n; ++column) {
      T& c = made.result[static_cast<std::size_t>(row * shape.c.ld + column)];
      c = alpha == 0 ? 0 : alpha * of(made.a, shape.a, shape.trans_a, row, column);
      if (beta != 0) c += beta * of(made.b, shape.b, shape.trans_b, row, column);
    }
  }
  return made;
}

}  // namespace tuner::testing_support
