// SPDX-License-Identifier: Apache-2.0
// GEMMs in every layout with their right results, for what multiplies by a library.
#pragma once

#include "tuner/blas/operation.hpp"
#include "tuner/family/element_type.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tuner::testing_support {

/// Operands of whole numbers, so that the result is exact. What belongs to no row is NaN in A and B
/// and an odd number in C, where it is to stay.
template <class T>
struct GemmCase {
  std::vector<T> a, b, c, result;
};

/// Plain, each transposed, both, padded rows, matrices apart, one A for a whole batch, and matrices
/// of C that lie row by row side by side.
inline std::vector<blas::GemmShape> gemm_shapes() {
  std::vector<blas::GemmShape> shapes;
  for (const Transpose a : {Transpose::no, Transpose::yes}) {
    for (const Transpose b : {Transpose::no, Transpose::yes}) {
      shapes.push_back(blas::packed_gemm(37, 53, 29, a, b));
      blas::GemmShape padded = blas::packed_gemm(7, 5, 9, a, b, 3);
      padded.a.ld += 3;
      padded.b.ld += 1;
      padded.c.ld += 2;
      padded.a.stride = padded.a.rows * padded.a.ld;
      padded.b.stride = padded.b.rows * padded.b.ld + 11;
      padded.c.stride = padded.c.rows * padded.c.ld;
      shapes.push_back(padded);
    }
  }
  blas::GemmShape shared = blas::packed_gemm(4, 6, 5, Transpose::no, Transpose::no, 4);
  shared.a.stride = 0;
  shared.c.ld = 4 * 6;
  shared.c.stride = 6;
  shapes.push_back(shared);
  return shapes;
}

namespace detail {

template <class T, class Visit>
void each_element(const blas::MatrixLayout& layout, std::int64_t batch, Visit visit) {
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t row = 0; row < layout.rows; ++row) {
      for (std::int64_t column = 0; column < layout.columns; ++column) {
        visit(static_cast<std::size_t>(i * layout.stride + row * layout.ld + column));
      }
    }
  }
}

template <class T>
std::vector<T> operand(const blas::MatrixLayout& layout, std::int64_t batch, T padding,
                       std::size_t seed) {
  std::vector<T> values(static_cast<std::size_t>(blas::elements(layout, batch)) + 5, padding);
  each_element<T>(layout, batch, [&](std::size_t at) {
    values[at] = static_cast<T>((at * at + seed * at + seed) % 7) - 3;
  });
  return values;
}

}  // namespace detail

template <class T>
GemmCase<T> gemm_case(const blas::GemmShape& shape, T alpha, T beta) {
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  GemmCase<T> made{.a = detail::operand<T>(shape.a, shape.batch, kNaN, 1),
                   .b = detail::operand<T>(shape.b, shape.batch, kNaN, 2),
                   .c = detail::operand<T>(shape.c, shape.batch, T(-1001), 3),
                   .result = {}};
  made.result = made.c;
  const auto at = [](const blas::MatrixLayout& layout, Transpose transpose, std::int64_t matrix,
                     std::int64_t row, std::int64_t column) {
    const bool turned = transpose == Transpose::yes;
    return static_cast<std::size_t>(matrix * layout.stride + (turned ? column : row) * layout.ld +
                                    (turned ? row : column));
  };
  for (std::int64_t i = 0; i < shape.batch; ++i) {
    for (std::int64_t row = 0; row < shape.m; ++row) {
      for (std::int64_t column = 0; column < shape.n; ++column) {
        T sum = 0;
        for (std::int64_t k = 0; k < shape.k; ++k) {
          sum += made.a[at(shape.a, shape.trans_a, i, row, k)] *
                 made.b[at(shape.b, shape.trans_b, i, k, column)];
        }
        T& c = made.result[at(shape.c, Transpose::no, i, row, column)];
        c = alpha * sum + beta * c;
      }
    }
  }
  return made;
}

/// The numbers as elements of 16 bits.
inline std::vector<std::uint16_t> shortened(family::ElementType type,
                                            const std::vector<float>& numbers) {
  std::vector<std::uint16_t> bits;
  for (const float number : numbers) {
    bits.push_back(static_cast<std::uint16_t>(family::bits_of(type, static_cast<double>(number))));
  }
  return bits;
}

}  // namespace tuner::testing_support
