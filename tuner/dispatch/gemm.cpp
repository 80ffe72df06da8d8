// SPDX-License-Identifier: Apache-2.0
#include "embedded/gemm_space.hpp"
#include "tuner/blas/gemm_types.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/dispatch/blas_family.hpp"
#include "tuner/dispatch/c_interface.hpp"
#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/gemm_kernel.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace tuner::dispatch {
namespace {

using blas::GemmShape;
using blas::GemmTypeRow;

const GemmTypeRow& row_of(GemmType type) {
  const auto place = static_cast<std::size_t>(type);
  if (place < blas::kGemmTypeRows.size()) return blas::kGemmTypeRows[place];
  throw DispatchError(fmt::format("gemm: the type {} is none of GemmType", place));
}

// A problem is a tuner_gemm_problem or a GemmProblem: neither is converted into the other here, on
// the path of each launch.

Epilogue epilogue_of(const GemmProblem& problem) {
  return problem.epilogue;
}

Epilogue epilogue_of(const tuner_gemm_problem& problem) {
  return {.bias = static_cast<Bias>(problem.bias_kind),
          .activation = static_cast<Activation>(problem.activation),
          .residual = problem.residual != nullptr};
}

/// A checked call.
struct Product {
  [[nodiscard]] const GemmShape& shape() const { return std::get<GemmShape>(operation.shape); }
  [[nodiscard]] const Epilogue& epilogue() const { return operation.epilogue; }

  const GemmTypeRow& type;
  blas::Operation operation;
  blas::Addresses operands;
};

/// A factor as a launch takes it.
DispatchArgument factor(const blas::GemmTypeRow& row, const char* name, double value) {
  if (row.factors == family::ElementType::f32) return static_cast<float>(value);
  if (row.factors == family::ElementType::f64) return value;
  const auto whole = static_cast<std::int32_t>(
      std::clamp(value, static_cast<double>(std::numeric_limits<std::int32_t>::min()),
                 static_cast<double>(std::numeric_limits<std::int32_t>::max())));
  if (static_cast<double>(whole) == value) return whole;
  throw DispatchError(
      fmt::format("{}: {} is {}, not a whole number of 32 bits", row.name, name, value));
}

/// Throws DispatchError where the library cannot multiply so.
void check_for_library(const GemmTypeRow& type, const GemmShape& shape, const Epilogue& epilogue) {
  if (!epilogue.is_none()) {
    throw DispatchError(fmt::format(
        "{} {}x{}x{} with a bias, an activation or a residual: the table has no kernel for it; "
        "tune a kernel of the family gemm_tensor; K is at least 1, and the matrices of a batch "
        "are contiguous",
        type.name, shape.m, shape.n, shape.k));
  }
  try {
    blas::check_shape(shape);
  } catch (const Error& error) {
    throw DispatchError(error.what());
  }
}

void multiply_by_library(Engine& engine, StreamHandle stream, const Product& product) {
  check_for_library(product.type, product.shape(), product.epilogue());
  try {
    const auto end = engine.executor().run_library(product.operation, product.operands, stream);
    if (!end) throw DispatchError("the library cannot multiply: " + end.error().message);
    engine.count_product_of_library();
  } catch (const Error& error) {
    throw DispatchError(error.what());
  }
}

bool fits_family(const GemmShape& shape) {
  return shape.k > 0 &&
         (shape.batch == 1 ||
          (blas::is_packed(shape.a) && blas::is_packed(shape.b) && blas::is_packed(shape.c)));
}

/// Records a size without a table as spaces/gemm.json names it, whose types are the first ones of
/// GemmType and whose first dimensions are those of BLAS; it could not be tuned in other types.
void record(Engine& engine, GemmType type, const GemmShape& shape) {
  static const space::Dimensions dims = space::parse_dimensions(
      parse_json(embedded::gemm_space(), "spaces/gemm.json").at("problem"), "spaces/gemm.json");
  if (type > GemmType::s8) return;
  const auto numbers = blas::gemm_numbers(shape);
  space::Size size(numbers.begin(), numbers.end());
  for (std::size_t i = size.size(); i < dims.size(); ++i) {
    size.push_back(dims[i].types.empty() ? *dims[i].default_value->evaluate({})
                                         : static_cast<std::int64_t>(type));
  }
  engine.record("gemm", dims, size);
}

/// As the library takes them: of A and B nothing is read where k is 0.
void check_not_null(const Product& product) {
  const GemmShape& shape = product.shape();
  const auto check = [&](const char* name, const void* matrix) {
    if (matrix != nullptr) return;
    throw DispatchError(fmt::format("{} {}x{}x{}: {} is a null pointer", product.type.name, shape.m,
                                    shape.n, shape.k, name));
  };
  if (shape.k > 0) check("a", product.operands[blas::kA]);
  if (shape.k > 0) check("b", product.operands[blas::kB]);
  check("c", product.operands[blas::kC]);
}

/// What a kernel with epilogues takes; what its epilogue does not read may be any address.
std::array<DispatchArgument, 7> arguments_of(const Product& product) {
  const auto& [alpha, beta, places] = product.operands;
  const bool has_bias = product.epilogue().bias != Bias::none;
  return {factor(product.type, "alpha", alpha),
          places[blas::kA],
          places[blas::kB],
          factor(product.type, "beta", beta),
          places[blas::kC],
          places[has_bias ? blas::kBias : blas::kC],
          places[product.epilogue().residual ? blas::kResidual : blas::kC]};
}

/// Where kernels for a product are looked up: in the family "gemm_tensor", which has epilogues, or
/// else in "gemm". Nothing: the library serves the product.
std::optional<GemmSize> size_of(const Engine& engine, GemmType type, const GemmShape& shape,
                                const Epilogue& epilogue) {
  if (!fits_family(shape)) return std::nullopt;
  auto family = engine.gemm_tensor_family(type);
  if (!family && epilogue.is_none()) family = engine.gemm_family(type);
  if (!family) return std::nullopt;
  return GemmSize(*family, shape, epilogue);
}

bool is_empty(const GemmShape& shape) {
  return shape.m == 0 || shape.n == 0 || shape.batch == 0;
}

void multiply(Engine& engine, StreamHandle stream, const Product& product) {
  const GemmShape& shape = product.shape();
  const GemmType type = product.type.type;
  const std::array<DispatchArgument, 7> arguments = arguments_of(product);
  if (is_empty(shape)) return;
  check_not_null(product);
  if (const auto size = size_of(engine, type, shape, product.epilogue())) {
    try {
      return engine.launch(size->family(), size->numbers(), size->taken(arguments), stream);
    } catch (const NotServed&) {
      if (!product.epilogue().is_none()) throw;
      return multiply_by_library(engine, stream, product);
    }
  }
  if (fits_family(shape) && product.epilogue().is_none()) record(engine, type, shape);
  multiply_by_library(engine, stream, product);
}

/// Without a stride: the product of unchecked numbers may overflow. A matrix without elements may
/// have a leading dimension of 0, which libraries do not take.
blas::MatrixLayout stored(std::int64_t rows, std::int64_t columns, Transpose transpose,
                          std::int64_t ld) {
  if (transpose == Transpose::yes) std::swap(rows, columns);
  if (ld == 0 && (rows == 0 || columns == 0)) ld = std::max<std::int64_t>(columns, 1);
  return {.rows = rows, .columns = columns, .ld = ld};
}

void check_epilogue(const char* function, const Epilogue& epilogue) {
  const auto check = [&](const char* name, auto kind, auto last) {
    if (static_cast<int>(kind) >= 0 && kind <= last) return;
    throw DispatchError(fmt::format("{}: {} is {}, none of 0 to {}", function, name,
                                    static_cast<int>(kind), static_cast<int>(last)));
  };
  check("the kind of bias", epilogue.bias, Bias::per_row);
  check("the activation", epilogue.activation, Activation::gelu);
}

/// So many elements that no memory holds them, as blas::check_shape has it.
constexpr double kTooManyElements = 0x1p56;

/// Refused here, where the caller's own names can be said.
void check_call(const char* function, const GemmShape& shape) {
  const auto fail = [&](const std::string& what) {
    throw DispatchError(fmt::format("{} {}x{}x{}: {}", function, shape.m, shape.n, shape.k, what));
  };
  if (shape.m < 0 || shape.n < 0 || shape.k < 0 || shape.batch < 0) fail("a size is negative");
  const auto check = [&](const char* name, const blas::MatrixLayout& layout) {
    if (layout.ld < std::max<std::int64_t>(layout.columns, 1)) {
      fail(fmt::format("{} is {}, but a stored row has {} elements", name, layout.ld,
                       layout.columns));
    }
    if (static_cast<double>(layout.rows) * static_cast<double>(layout.ld) >= kTooManyElements) {
      fail(fmt::format("{} is {}: {} rows are more than 2^56 elements", name, layout.ld,
                       layout.rows));
    }
  };
  const auto check_transpose = [&](const char* name, Transpose transpose) {
    if (transpose == Transpose::no || transpose == Transpose::yes) return;
    fail(fmt::format("{} is {}, neither Transpose::no nor Transpose::yes", name,
                     static_cast<int>(transpose)));
  };
  check_transpose("trans_a", shape.trans_a);
  check_transpose("trans_b", shape.trans_b);
  check("lda", shape.a);
  check("ldb", shape.b);
  check("ldc", shape.c);
}

/// The shape of a checked call; throws as check_call.
GemmShape shape_of(const char* function, Transpose trans_a, Transpose trans_b, std::int64_t m,
                   std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb,
                   std::int64_t ldc, std::int64_t batch = 1) {
  GemmShape shape{.m = m,
                  .n = n,
                  .k = k,
                  .trans_a = trans_a,
                  .trans_b = trans_b,
                  .batch = batch,
                  .a = stored(m, k, trans_a, lda),
                  .b = stored(k, n, trans_b, ldb),
                  .c = stored(m, n, Transpose::no, ldc)};
  check_call(function, shape);
  for (blas::MatrixLayout* const layout : {&shape.a, &shape.b, &shape.c}) {
    layout->stride = layout->rows * layout->ld;
  }
  return shape;
}

/// Whether a leading dimension of 0 is the length of a row.
enum class ZeroLd { row_length, as_given };

void set_stride(blas::MatrixLayout& layout, std::optional<std::int64_t> stride) {
  if (stride) layout.stride = *stride;
}

void set_stride(blas::MatrixLayout& layout, std::int64_t stride) {
  if (stride != TUNER_STRIDE_PACKED) layout.stride = stride;
}

/// The shape of a checked problem; throws as check_call and check_epilogue.
template <class Problem>
GemmShape shape_of(const Problem& problem, ZeroLd zero = ZeroLd::row_length) {
  const char* const function = row_of(static_cast<GemmType>(problem.type)).name;
  check_epilogue(function, epilogue_of(problem));
  const auto trans_a = static_cast<Transpose>(problem.trans_a);
  const auto trans_b = static_cast<Transpose>(problem.trans_b);
  const auto ld = [&](std::int64_t given, Transpose transpose, std::int64_t rows,
                      std::int64_t columns) {
    if (given != 0 || zero == ZeroLd::as_given) return given;
    return std::max<std::int64_t>(transpose == Transpose::yes ? rows : columns, 1);
  };
  GemmShape shape = shape_of(function, trans_a, trans_b, problem.m, problem.n, problem.k,
                             ld(problem.lda, trans_a, problem.m, problem.k),
                             ld(problem.ldb, trans_b, problem.k, problem.n),
                             ld(problem.ldc, Transpose::no, problem.m, problem.n), problem.batch);
  if (shape.batch == 1) return shape;
  set_stride(shape.a, problem.stride_a);
  set_stride(shape.b, problem.stride_b);
  set_stride(shape.c, problem.stride_c);
  return shape;
}

template <class Problem>
Product product_of(const Problem& problem, const GemmShape& shape, double alpha, const void* a,
                   const void* b, double beta, void* c) {
  const GemmTypeRow& row = row_of(static_cast<GemmType>(problem.type));
  return {.type = row,
          .operation = {.type = row.matrices,
                        .result = row.result,
                        .shape = shape,
                        .epilogue = epilogue_of(problem)},
          .operands = {
              .alpha = alpha, .beta = beta, .places = {{a, b, c, problem.bias, problem.residual}}}};
}

}  // namespace

void multiply(Engine& engine, StreamHandle stream, const tuner_gemm_problem& problem, double alpha,
              const void* a, const void* b, double beta, void* c) {
  multiply(engine, stream, product_of(problem, shape_of(problem), alpha, a, b, beta, c));
}

void multiply_floats(Engine& engine, StreamHandle stream, const tuner_gemm_problem& problem,
                     float alpha, const float* a, const float* b, float beta, float* c) {
  multiply(engine, stream,
           product_of(problem, shape_of(problem, ZeroLd::as_given), static_cast<double>(alpha), a,
                      b, static_cast<double>(beta), c));
}

std::optional<GemmEntry> find_product(const Engine& engine, const tuner_gemm_problem& problem) {
  const GemmShape shape = shape_of(problem);
  if (is_empty(shape)) return std::nullopt;
  const auto type = static_cast<GemmType>(problem.type);
  const Epilogue epilogue = epilogue_of(problem);
  const auto size = size_of(engine, type, shape, epilogue);
  if (!size || !engine.is_size(size->family(), size->numbers())) {
    check_for_library(row_of(type), shape, epilogue);
    return std::nullopt;
  }
  const auto numbers = size->numbers();
  return GemmEntry{.family = size->family(), .size = {numbers.begin(), numbers.end()}};
}

KernelUse gemm_by_kernel(Dispatcher& dispatcher, StreamHandle stream, const GemmProblem& problem,
                         double alpha, const void* a, const void* b, double beta, void* c) {
  const Product product = product_of(problem, shape_of(problem), alpha, a, b, beta, c);
  if (!fits_family(product.shape())) return {.end = KernelEnd::unsuited};
  return engine_of(dispatcher.handle())
      .launch_gemm_kernel(problem.type, product.shape(), problem.epilogue, arguments_of(product),
                          stream);
}

}  // namespace tuner::dispatch
