// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_geam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tuner::backend {
namespace {

/// Edge of a square tile of which both matrices fit in the L1 cache.
constexpr std::int64_t kTile = 32;

/// op(X) of a stored matrix.
template <class Element>
struct Operand {
  Operand(const void* data, const family::MatrixLayout& layout, Transpose transpose)
      : first(static_cast<const Element*>(data)),
        row(transpose == Transpose::yes ? 1 : layout.ld),
        column(transpose == Transpose::yes ? layout.ld : 1) {}
  [[nodiscard]] Element at(std::int64_t i, std::int64_t j) const {
    return first[i * row + j * column];
  }

  const Element* first;
  std::int64_t row, column;  // elements from one to the next
};

template <class Element>
void geam(const family::GeamShape& shape, const MatrixOperands& operands) {
  family::check_shape(shape);
  const Operand<Element> a(operands.a, shape.a, shape.trans_a);
  const Operand<Element> b(operands.b, shape.b, shape.trans_b);
  auto* const c = static_cast<Element*>(operands.c);
  const auto alpha = static_cast<Element>(operands.alpha);
  const auto beta = static_cast<Element>(operands.beta);
  // As in BLAS a factor of zero leaves its matrix unread.
  const auto element = [&](std::int64_t i, std::int64_t j) {
    const auto of_a = static_cast<Element>(alpha == Element(0) ? Element(0) : alpha * a.at(i, j));
    return beta == Element(0) ? of_a : static_cast<Element>(of_a + beta * b.at(i, j));
  };
  for (std::int64_t i0 = 0; i0 < shape.m; i0 += kTile) {
    for (std::int64_t j0 = 0; j0 < shape.n; j0 += kTile) {
      for (std::int64_t i = i0; i < std::min(i0 + kTile, shape.m); ++i) {
        for (std::int64_t j = j0; j < std::min(j0 + kTile, shape.n); ++j) {
          c[i * shape.c.ld + j] = element(i, j);
        }
      }
    }
  }
}

}  // namespace

Expected<void, Failure> host_geam(family::ElementType type, const family::GeamShape& shape,
                                  const MatrixOperands& operands) {
  if (!family::library_adds(type)) {
    return Unexpected(Failure{Outcome::launch_error,
                              fmt::format("BLAS cannot add matrices of {}", family::name(type))});
  }
  if (type == family::ElementType::f32) {
    geam<float>(shape, operands);
  } else if (type == family::ElementType::f64) {
    geam<double>(shape, operands);
  } else if (type == family::ElementType::u16) {
    geam<std::uint16_t>(shape, operands);
  } else {
    geam<std::uint8_t>(shape, operands);
  }
  return {};
}

}  // namespace tuner::backend
