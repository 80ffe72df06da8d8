// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_library.hpp"

#include "tuner/backend/cpu/openblas.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <variant>

namespace tuner::backend {
namespace {

/// No row follows a single one.
std::int64_t leading(const blas::MatrixLayout& layout) {
  return std::max<std::int64_t>(layout.rows > 1 ? layout.ld : layout.columns, 1);
}

/// OpenBLAS takes numbers of 32 bits.
bool fits_openblas(const blas::GemmShape& shape) {
  return std::max({shape.m, shape.n, shape.k, leading(shape.a), leading(shape.b),
                   leading(shape.c)}) <= std::numeric_limits<blasint>::max();
}

CBLAS_TRANSPOSE blas_transpose(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

/// The product by plain loops, row by row with sums in the type of C.
template <class Element, class Sum>
void gemm_by_loops(const blas::GemmShape& shape, const blas::Addresses& operands) {
  const auto alpha = static_cast<Sum>(operands.alpha);
  const auto beta = static_cast<Sum>(operands.beta);
  std::vector<Sum> sums(static_cast<std::size_t>(shape.n));
  for (std::int64_t row = 0; row < shape.batch * shape.m; ++row) {
    const std::int64_t matrix = row / shape.m, i = row % shape.m;
    const auto* const a = static_cast<const Element*>(operands[blas::kA]) + matrix * shape.a.stride;
    const auto* const b = static_cast<const Element*>(operands[blas::kB]) + matrix * shape.b.stride;
    auto* const c = static_cast<Sum*>(blas::result_address(operands)) + matrix * shape.c.stride +
                    i * shape.c.ld;
    const std::int64_t step_b = shape.trans_b == Transpose::yes ? shape.b.ld : 1;
    std::ranges::fill(sums, Sum{0});
    for (std::int64_t k = 0; k < shape.k; ++k) {
      const Element factor =
          a[shape.trans_a == Transpose::yes ? k * shape.a.ld + i : i * shape.a.ld + k];
      const Element* const from = b + (shape.trans_b == Transpose::yes ? k : k * shape.b.ld);
      for (std::int64_t j = 0; j < shape.n; ++j) {
        sums[static_cast<std::size_t>(j)] +=
            static_cast<Sum>(factor) * static_cast<Sum>(from[j * step_b]);
      }
    }
    for (std::int64_t j = 0; j < shape.n; ++j) {
      c[j] = alpha * sums[static_cast<std::size_t>(j)] + (beta == 0 ? Sum{0} : beta * c[j]);
    }
  }
}

template <class Float, class Gemm>
void gemm(Gemm* blas, const blas::GemmShape& shape, const blas::Addresses& operands) {
  if (!fits_openblas(shape)) return gemm_by_loops<Float, Float>(shape, operands);
  const auto number = [](std::int64_t value) { return static_cast<blasint>(value); };
  const auto* const a = static_cast<const Float*>(operands[blas::kA]);
  const auto* const b = static_cast<const Float*>(operands[blas::kB]);
  auto* const c = static_cast<Float*>(blas::result_address(operands));
  for (std::int64_t i = 0; i < shape.batch; ++i) {
    blas(CblasRowMajor, blas_transpose(shape.trans_a), blas_transpose(shape.trans_b),
         number(shape.m), number(shape.n), number(shape.k), static_cast<Float>(operands.alpha),
         a + i * shape.a.stride, number(leading(shape.a)), b + i * shape.b.stride,
         number(leading(shape.b)), static_cast<Float>(operands.beta), c + i * shape.c.stride,
         number(leading(shape.c)));
  }
}

/// The number that every element of 8 or 16 bits is, by its bits: once in the process.
const std::vector<float>& numbers_of(family::ElementType type) {
  static std::array<std::vector<float>, kElementTypes.size()> tables;
  static std::array<std::once_flag, kElementTypes.size()> made;
  const auto index = static_cast<std::size_t>(type);
  std::vector<float>& numbers = tables.at(index);
  std::call_once(made.at(index), [&] {
    numbers.resize(std::size_t{1} << family::bits(type));
    for (std::size_t bits = 0; bits < numbers.size(); ++bits) {
      numbers[bits] = static_cast<float>(family::number_of(type, bits));
    }
  });
  return numbers;
}

/// Matrices one behind the other, without what lies between rows; one where all are the same.
blas::MatrixLayout packed(const blas::MatrixLayout& layout) {
  return {.rows = layout.rows,
          .columns = layout.columns,
          .ld = layout.columns,
          .stride = layout.stride == 0 ? 0 : layout.rows * layout.columns};
}

/// Calls `visit(place, first, length)` for each row of a batch: its place among rows that are
/// packed, and where it lies.
template <class Visit>
void for_each_row(const blas::MatrixLayout& layout, std::int64_t batch, const Visit& visit) {
  const std::int64_t matrices = layout.stride == 0 ? 1 : batch;
  for (std::int64_t row = 0; row < matrices * layout.rows; ++row) {
    visit(static_cast<std::size_t>(row * layout.columns),
          row / layout.rows * layout.stride + row % layout.rows * layout.ld,
          static_cast<std::size_t>(layout.columns));
  }
}

/// The numbers of a batch of matrices of 8 or 16 bits an element, packed.
std::vector<float> widened(const void* data, const blas::MatrixLayout& layout, std::int64_t batch,
                           family::ElementType type) {
  const std::int64_t matrices = layout.stride == 0 ? 1 : batch;
  std::vector<float> result(static_cast<std::size_t>(matrices * layout.rows * layout.columns));
  const auto number = [&numbers = numbers_of(type)](std::uint16_t bits) { return numbers[bits]; };
  for_each_row(layout, batch, [&](std::size_t place, std::int64_t first, std::size_t length) {
    float* const to = result.data() + place;
    if (family::bits(type) == 8) {
      std::ranges::transform(std::span(static_cast<const std::uint8_t*>(data) + first, length), to,
                             number);
    } else {
      std::ranges::transform(std::span(static_cast<const std::uint16_t*>(data) + first, length), to,
                             number);
    }
  });
  return result;
}

/// The product of matrices of 8 or 16 bits an element: in float, each result rounded once.
/// `multiply` is the product of matrices of floats. What has a factor of 0 is not read.
template <class Multiply>
void short_gemm(const blas::Operation& operation, const blas::GemmShape& shape,
                const blas::Addresses& operands, const Multiply& multiply) {
  std::vector<float> a, b, c;
  if (shape.k > 0) a = widened(operands[blas::kA], shape.a, shape.batch, operation.type);
  if (shape.k > 0) b = widened(operands[blas::kB], shape.b, shape.batch, operation.type);
  blas::GemmShape wide_shape = shape;
  wide_shape.a = packed(shape.a);
  wide_shape.b = packed(shape.b);
  blas::Addresses wide = operands;
  wide[blas::kA] = a.data();
  wide[blas::kB] = b.data();
  const family::ElementType result = operation.result_type();
  if (result == family::ElementType::f32) return multiply(wide_shape, wide);
  wide_shape.c = packed(shape.c);
  if (operands.beta != 0) c = widened(operands[blas::kC], shape.c, shape.batch, result);
  c.resize(static_cast<std::size_t>(shape.batch * shape.m * shape.n));
  wide[blas::kC] = c.data();
  multiply(wide_shape, wide);
  auto* const to = static_cast<std::uint16_t*>(blas::result_address(operands));
  for_each_row(shape.c, shape.batch, [&](std::size_t place, std::int64_t first, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      to[first + static_cast<std::int64_t>(i)] =
          static_cast<std::uint16_t>(family::bits_of(result, static_cast<double>(c[place + i])));
    }
  });
}

Expected<void, Failure> check_types(const blas::Operation& operation) {
  if (blas::library_multiplies(operation.type, operation.result_type())) return {};
  return Unexpected(Failure{Outcome::launch_error, fmt::format("OpenBLAS has no GEMM for {}",
                                                               family::name(operation.type))});
}

/// The shape of what is read: nothing of A and B where alpha is 0, which OpenBLAS's kernels for
/// small matrices multiply by it, so that NaN stays. Throws as check_shape.
blas::GemmShape shape_read(const blas::GemmShape& of, const blas::Addresses& operands) {
  blas::check_shape(of);
  blas::GemmShape shape = of;
  if (operands.alpha == 0) shape.k = 0;
  return shape;
}

/// A product by OpenBLAS, or by plain loops where its numbers are too small, done on return.
/// launch_error for a type that it has no GEMM for; throws what check_shape throws.
Expected<void, Failure> host_gemm(const blas::Operation& operation, const blas::GemmShape& of,
                                  const blas::Addresses& operands) {
  if (auto fits = check_types(operation); !fits) return fits;
  const blas::GemmShape shape = shape_read(of, operands);
  if (operation.type == family::ElementType::f32 || operation.type == family::ElementType::tf32) {
    gemm<float>(openblas().sgemm, shape, operands);
  } else if (operation.type == family::ElementType::f64) {
    gemm<double>(openblas().dgemm, shape, operands);
  } else if (operation.type == family::ElementType::s8) {
    gemm_by_loops<std::int8_t, std::int32_t>(shape, operands);
  } else {
    short_gemm(operation, shape, operands,
               [](const blas::GemmShape& wide_shape, const blas::Addresses& wide) {
                 gemm<float>(openblas().sgemm, wide_shape, wide);
               });
  }
  return {};
}

/// A product by plain loops, which need no preparation: for small matrices they are faster.
Expected<void, Failure> host_gemm_by_loops(const blas::Operation& operation,
                                           const blas::GemmShape& of,
                                           const blas::Addresses& operands) {
  if (auto fits = check_types(operation); !fits) return fits;
  const blas::GemmShape shape = shape_read(of, operands);
  if (operation.type == family::ElementType::f32 || operation.type == family::ElementType::tf32) {
    gemm_by_loops<float, float>(shape, operands);
  } else if (operation.type == family::ElementType::f64) {
    gemm_by_loops<double, double>(shape, operands);
  } else if (operation.type == family::ElementType::s8) {
    gemm_by_loops<std::int8_t, std::int32_t>(shape, operands);
  } else {
    short_gemm(operation, shape, operands, gemm_by_loops<float, float>);
  }
  return {};
}

/// Edge of a square tile of which both matrices fit in the L1 cache.
constexpr std::int64_t kTile = 32;

/// op(X) of a stored matrix.
template <class Element>
struct Operand {
  Operand(const void* data, const blas::MatrixLayout& layout, Transpose transpose)
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
void geam(const blas::GeamShape& shape, const blas::Addresses& operands) {
  blas::check_shape(shape);
  const Operand<Element> a(operands[blas::kA], shape.a, shape.trans_a);
  const Operand<Element> b(operands[blas::kB], shape.b, shape.trans_b);
  auto* const c = static_cast<Element*>(blas::result_address(operands));
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

/// A sum of matrices or a transposition, done on return: loops of our own, since CBLAS has none.
/// launch_error for a type that is neither f32 nor f64; throws what check_shape throws.
Expected<void, Failure> host_geam(family::ElementType type, const blas::GeamShape& shape,
                                  const blas::Addresses& operands) {
  if (!blas::library_adds(type)) {
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

/// The number is of this way of naming algorithms.
constexpr const char* kLoops = "host/1/loops";
constexpr std::int64_t kMostProductsOfLoops = std::int64_t{1} << 18;

}  // namespace

std::vector<std::string> host_library_algorithms(const blas::Operation& operation) {
  const auto* const shape = std::get_if<blas::GemmShape>(&operation.shape);
  // Of bytes the library itself is loops.
  if (shape == nullptr || !operation.epilogue.is_none() ||
      operation.type == family::ElementType::s8)
    return {};
  if (shape->batch * shape->m * shape->n >
      kMostProductsOfLoops / std::max<std::int64_t>(shape->k, 1))
    return {};
  return {kLoops};
}

Expected<void, Failure> run_host_library(const blas::Operation& operation,
                                         const blas::Addresses& operands,
                                         const std::string& algorithm) {
  const auto* const shape = std::get_if<blas::GemmShape>(&operation.shape);
  if (shape == nullptr || algorithm != kLoops) {
    return Unexpected(
        Failure{Outcome::launch_error,
                fmt::format("'{}' is no algorithm of the host's library", algorithm)});
  }
  return host_gemm_by_loops(operation, *shape, operands);
}

Expected<void, Failure> run_host_library(const blas::Operation& operation,
                                         const blas::Addresses& operands) {
  if (!operation.epilogue.is_none()) {
    return Unexpected(
        Failure{Outcome::launch_error, "the host's library has no bias, activation or residual"});
  }
  if (const auto* const shape = std::get_if<blas::GemmShape>(&operation.shape)) {
    return host_gemm(operation, *shape, operands);
  }
  return host_geam(operation.type, std::get<blas::GeamShape>(operation.shape), operands);
}

}  // namespace tuner::backend
