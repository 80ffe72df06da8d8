// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_gemm.hpp"

#include "tuner/backend/cpu/openblas.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tuner::backend {
namespace {

blasint blas_size(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<blasint>::max()) {
    throw Error(ErrorCode::failure, fmt::format("a size of {} is too large for OpenBLAS", value));
  }
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE blas_transpose(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

template <class Float, class Gemm>
void gemm(Gemm* blas, const family::GemmShape& shape, const MatrixOperands& operands) {
  family::check_shape(shape);
  const blasint m = blas_size(shape.m), n = blas_size(shape.n), k = blas_size(shape.k);
  const auto ld = [](const family::MatrixLayout& layout) {
    return std::max(blas_size(layout.ld), 1);
  };
  const auto* const a = static_cast<const Float*>(operands.a);
  const auto* const b = static_cast<const Float*>(operands.b);
  auto* const c = static_cast<Float*>(operands.c);
  for (std::int64_t i = 0; i < shape.batch; ++i) {
    blas(CblasRowMajor, blas_transpose(shape.trans_a), blas_transpose(shape.trans_b), m, n, k,
         static_cast<Float>(operands.alpha), a + i * shape.a.stride, ld(shape.a),
         b + i * shape.b.stride, ld(shape.b), static_cast<Float>(operands.beta),
         c + i * shape.c.stride, ld(shape.c));
  }
}

/// The number that every element of 16 bits is, by its bits.
std::vector<float> numbers_of(family::ElementType type) {
  std::vector<float> numbers(std::size_t{1} << 16);
  for (std::size_t bits = 0; bits < numbers.size(); ++bits) {
    numbers[bits] = static_cast<float>(family::number_of(type, bits));
  }
  return numbers;
}

std::vector<float> widened(const void* data, std::int64_t count,
                           const std::vector<float>& numbers) {
  const std::span elements(static_cast<const std::uint16_t*>(data),
                           static_cast<std::size_t>(count));
  std::vector<float> result(elements.size());
  std::ranges::transform(elements, result.begin(),
                         [&](std::uint16_t bits) { return numbers[bits]; });
  return result;
}

/// The product of matrices of 16 bits an element: in float, each result rounded once.
void short_gemm(const family::LibraryOperation& operation, const family::GemmShape& shape,
                const MatrixOperands& operands) {
  family::check_shape(shape);
  const std::vector<float> numbers = numbers_of(operation.type);
  const auto matrices = [&](const void* data, const family::MatrixLayout& layout) {
    return widened(data, family::elements(layout, shape.batch), numbers);
  };
  const std::vector<float> a = matrices(operands.a, shape.a), b = matrices(operands.b, shape.b);
  MatrixOperands wide = operands;
  wide.a = a.data();
  wide.b = b.data();
  if (operation.result_type() == family::ElementType::f32) {
    return gemm<float>(openblas().sgemm, shape, wide);
  }
  std::vector<float> c = matrices(operands.c, shape.c);
  wide.c = c.data();
  gemm<float>(openblas().sgemm, shape, wide);
  auto* const result = static_cast<std::uint16_t*>(operands.c);
  for (std::int64_t row = 0; row < shape.batch * shape.m; ++row) {
    const std::int64_t first = row / shape.m * shape.c.stride + row % shape.m * shape.c.ld;
    for (std::int64_t i = first; i < first + shape.n; ++i) {
      const auto number = static_cast<double>(c[static_cast<std::size_t>(i)]);
      result[i] = static_cast<std::uint16_t>(family::bits_of(operation.type, number));
    }
  }
}

/// The product of matrices of bytes with sums in 32 bits, row by row.
void integer_gemm(const family::GemmShape& shape, const MatrixOperands& operands) {
  family::check_shape(shape);
  const auto alpha = static_cast<std::int32_t>(operands.alpha);
  const auto beta = static_cast<std::int32_t>(operands.beta);
  std::vector<std::int32_t> sums(static_cast<std::size_t>(shape.n));
  for (std::int64_t row = 0; row < shape.batch * shape.m; ++row) {
    const std::int64_t matrix = row / shape.m, i = row % shape.m;
    const auto* const a = static_cast<const std::int8_t*>(operands.a) + matrix * shape.a.stride;
    const auto* const b = static_cast<const std::int8_t*>(operands.b) + matrix * shape.b.stride;
    auto* const c =
        static_cast<std::int32_t*>(operands.c) + matrix * shape.c.stride + i * shape.c.ld;
    const std::int64_t step_b = shape.trans_b == Transpose::yes ? shape.b.ld : 1;
    std::ranges::fill(sums, 0);
    for (std::int64_t k = 0; k < shape.k; ++k) {
      const std::int32_t factor =
          a[shape.trans_a == Transpose::yes ? k * shape.a.ld + i : i * shape.a.ld + k];
      const std::int8_t* const from = b + (shape.trans_b == Transpose::yes ? k : k * shape.b.ld);
      for (std::int64_t j = 0; j < shape.n; ++j) {
        sums[static_cast<std::size_t>(j)] += factor * from[j * step_b];
      }
    }
    for (std::int64_t j = 0; j < shape.n; ++j) {
      c[j] = alpha * sums[static_cast<std::size_t>(j)] + (beta == 0 ? 0 : beta * c[j]);
    }
  }
}

}  // namespace

Expected<void, Failure> host_gemm(const family::LibraryOperation& operation,
                                  const family::GemmShape& shape, const MatrixOperands& operands) {
  if (!family::library_multiplies(operation.type, operation.result_type())) {
    return Unexpected(Failure{Outcome::launch_error, fmt::format("OpenBLAS has no GEMM for {}",
                                                                 family::name(operation.type))});
  }
  if (operation.type == family::ElementType::f32) {
    gemm<float>(openblas().sgemm, shape, operands);
  } else if (operation.type == family::ElementType::f64) {
    gemm<double>(openblas().dgemm, shape, operands);
  } else if (operation.type == family::ElementType::s8) {
    integer_gemm(shape, operands);
  } else {
    short_gemm(operation, shape, operands);
  }
  return {};
}

}  // namespace tuner::backend
