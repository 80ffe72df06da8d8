// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/operation.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tuner::blas {
namespace {

/// So many elements that no memory holds them and that offsets in bytes do not overflow.
constexpr double kTooMany = 0x1p56;

constexpr const char* kGemmOperation = "gemm";
constexpr const char* kGeamOperation = "geam";

[[noreturn]] void fail(std::string_view operation, const std::string& text) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", operation, text));
}

}  // namespace

MatrixLayout packed_matrix(std::string_view operation, std::int64_t rows, std::int64_t columns,
                           Transpose transpose) {
  if (std::abs(static_cast<double>(rows) * static_cast<double>(columns)) >= kTooMany) {
    fail(operation,
         fmt::format("a matrix of {}x{} elements does not fit in memory", rows, columns));
  }
  if (transpose == Transpose::yes) std::swap(rows, columns);
  return {.rows = rows, .columns = columns, .ld = columns, .stride = rows * columns};
}

void check_layout(std::string_view operation, char name, const MatrixLayout& layout,
                  std::int64_t batch) {
  if (layout.ld < layout.columns) {
    fail(operation, fmt::format("ld{0} is {1}, less than a row of {0} is long: {2}", name,
                                layout.ld, layout.columns));
  }
  if (layout.stride < 0) {
    fail(operation, fmt::format("stride_{} is {}; it must be at least 0", name, layout.stride));
  }
  const double span = static_cast<double>(batch) * static_cast<double>(layout.stride) +
                      static_cast<double>(layout.rows) * static_cast<double>(layout.ld);
  if (span < kTooMany) return;
  fail(operation, fmt::format("the {:.3g} elements of {} do not fit in memory", span, name));
}

bool interleaved(const MatrixLayout& layout, std::int64_t batch) {
  return layout.stride >= layout.columns &&
         (batch - 1) * layout.stride + layout.columns <= layout.ld;
}

std::int64_t elements(const MatrixLayout& layout, std::int64_t batch) {
  if (layout.rows == 0 || layout.columns == 0) return 0;
  return (batch - 1) * layout.stride + (layout.rows - 1) * layout.ld + layout.columns;
}

std::optional<MatrixElements> matrix_elements(const MatrixLayout& layout, std::int64_t batch) {
  const auto& [rows, columns, ld, stride] = layout;
  const std::int64_t one = std::max<std::int64_t>(1, elements(layout, 1));
  if (batch == 1 || stride == 0)
    return MatrixElements{1, one, rows, std::max(ld, std::int64_t{1}), columns};
  if (stride >= one)
    return MatrixElements{batch, stride, rows, std::max(ld, std::int64_t{1}), columns};
  if (interleaved(layout, batch)) return MatrixElements{rows, ld, batch, stride, columns};
  return std::nullopt;
}

std::string place_name(const MatrixLayout& layout, std::int64_t batch, std::int64_t index) {
  const auto each = matrix_elements(layout, batch);
  if (!each) return "";
  const std::int64_t outer = index / each->outer_step;
  const std::int64_t inner = index % each->outer_step / each->inner_step;
  const std::int64_t column = index % each->outer_step % each->inner_step;
  if (outer >= each->outer_count || inner >= each->inner_count || column >= each->columns) {
    return "between the rows";
  }
  const bool by_rows = batch > 1 && layout.stride > 0 && layout.stride < elements(layout, 1);
  const std::int64_t matrix = by_rows ? inner : outer;
  const std::int64_t row = by_rows ? outer : inner;
  const std::string place = fmt::format("row {}, column {}", row, column);
  return batch > 1 && layout.stride > 0 ? fmt::format("matrix {}, {}", matrix, place) : place;
}

GemmShape packed_gemm(std::int64_t m, std::int64_t n, std::int64_t k, Transpose trans_a,
                      Transpose trans_b, std::int64_t batch) {
  return {.m = m,
          .n = n,
          .k = k,
          .trans_a = trans_a,
          .trans_b = trans_b,
          .batch = batch,
          .a = packed_matrix(kGemmOperation, m, k, trans_a),
          .b = packed_matrix(kGemmOperation, k, n, trans_b),
          .c = packed_matrix(kGemmOperation, m, n, Transpose::no)};
}

void check_shape(const GemmShape& shape) {
  if (std::min({shape.m, shape.n, shape.k}) < 0 || shape.batch < 1) {
    fail(kGemmOperation,
         fmt::format("m={}, n={}, k={}, batch={}: none can be negative, and batch is at least 1",
                     shape.m, shape.n, shape.k, shape.batch));
  }
  check_layout(kGemmOperation, 'a', shape.a, shape.batch);
  check_layout(kGemmOperation, 'b', shape.b, shape.batch);
  check_layout(kGemmOperation, 'c', shape.c, shape.batch);
  const MatrixLayout one = {shape.c.rows, shape.c.columns, shape.c.ld, 0};
  if (shape.batch == 1 || shape.c.stride >= elements(one, 1)) return;
  if (interleaved(shape.c, shape.batch)) return;
  fail(kGemmOperation,
       fmt::format("stride_c is {}, but a matrix of c takes {} elements: they would overlap",
                   shape.c.stride, elements(one, 1)));
}

GeamShape packed_geam(std::int64_t m, std::int64_t n, Transpose trans_a, Transpose trans_b) {
  return {.m = m,
          .n = n,
          .trans_a = trans_a,
          .trans_b = trans_b,
          .a = packed_matrix(kGeamOperation, m, n, trans_a),
          .b = packed_matrix(kGeamOperation, m, n, trans_b),
          .c = packed_matrix(kGeamOperation, m, n, Transpose::no)};
}

void check_shape(const GeamShape& shape) {
  if (std::min(shape.m, shape.n) < 0) {
    fail(kGeamOperation, fmt::format("m={}, n={}: neither can be negative", shape.m, shape.n));
  }
  check_layout(kGeamOperation, 'a', shape.a, GeamShape::batch);
  check_layout(kGeamOperation, 'b', shape.b, GeamShape::batch);
  check_layout(kGeamOperation, 'c', shape.c, GeamShape::batch);
}

std::array<std::optional<Operand>, kMostOperands> operands_of(const Operation& operation) {
  const auto in_shape = [&](const auto& shape) {
    check_shape(shape);
    const ElementType result = operation.result_type();
    const Epilogue& epilogue = operation.epilogue;
    std::array<std::optional<Operand>, kMostOperands> operands = {
        Operand{shape.a, shape.batch, operation.type},
        Operand{shape.b, shape.batch, operation.type}, Operand{shape.c, shape.batch, result}};
    if (epilogue.bias != Bias::none) {
      const std::int64_t length = epilogue.bias == Bias::per_row ? shape.m : shape.n;
      operands[kBias] = Operand{{.rows = 1, .columns = length, .ld = length}, 1, result};
    }
    if (epilogue.residual) operands[kResidual] = operands[kC];
    return operands;
  };
  return std::visit(in_shape, operation.shape);
}

}  // namespace tuner::blas
