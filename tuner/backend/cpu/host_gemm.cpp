// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_gemm.hpp"

#include "tuner/backend/cpu/openblas.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

}  // namespace

Expected<void, Failure> host_gemm(family::ElementType type, const family::GemmShape& shape,
                                  const MatrixOperands& operands) {
  switch (type) {
    case family::ElementType::f32:
      gemm<float>(openblas().sgemm, shape, operands);
      return {};
    case family::ElementType::f64:
      gemm<double>(openblas().dgemm, shape, operands);
      return {};
    default:  // integers
      break;
  }
  return Unexpected(Failure{Outcome::launch_error,
                            fmt::format("OpenBLAS has no GEMM for {}", family::name(type))});
}

}  // namespace tuner::backend
