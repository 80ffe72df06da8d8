// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/gemm.hpp"

#include "embedded/gemm_space.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/dispatch/blas_family.hpp"
#include "tuner/dispatch/engine.hpp"
#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/gemm_kernel.hpp"
#include "tuner/dispatch/gemm_types.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace tuner {
namespace {

using dispatch::BlasSize;
using dispatch::GemmTypeRow;
using dispatch::kBlasDimensions;

const GemmTypeRow& row_of(GemmType type) {
  const auto place = static_cast<std::size_t>(type);
  if (place < dispatch::kGemmTypeRows.size()) return dispatch::kGemmTypeRows[place];
  throw DispatchError(fmt::format("gemm: the type {} is none of GemmType", place));
}

/// A call as it came.
struct Product {
  GemmType type;
  family::GemmShape shape;
  double alpha;
  const void* a;
  const void* b;
  double beta;
  void* c;
  Epilogue epilogue = {};
  const void* bias = nullptr;
  const void* residual = nullptr;
};

/// A factor as a launch takes it.
DispatchArgument factor(const GemmTypeRow& row, const char* name, double value) {
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
void check_for_library(GemmType type, const family::GemmShape& shape, const Epilogue& epilogue) {
  if (!epilogue.is_none()) {
    throw DispatchError(fmt::format(
        "{} {}x{}x{} with a bias, an activation or a residual: the table has no kernel for it; "
        "tune a kernel of the family gemm_tensor; K is at least 1, and the matrices of a batch "
        "are contiguous",
        row_of(type).name, shape.m, shape.n, shape.k));
  }
  try {
    family::check_shape(shape);
  } catch (const Error& error) {
    throw DispatchError(error.what());
  }
}

void multiply_by_library(Dispatcher& dispatcher, StreamHandle stream, const Product& product) {
  check_for_library(product.type, product.shape, product.epilogue);
  try {
    const auto end =
        dispatcher.engine().executor().run_library({.type = row_of(product.type).matrices,
                                                    .result = row_of(product.type).result,
                                                    .shape = product.shape},
                                                   {.a = product.a,
                                                    .b = product.b,
                                                    .c = product.c,
                                                    .alpha = product.alpha,
                                                    .beta = product.beta},
                                                   stream);
    if (!end) throw DispatchError("the library cannot multiply: " + end.error().message);
    dispatcher.engine().count_product_of_library();
  } catch (const Error& error) {
    throw DispatchError(error.what());
  }
}

/// Whether the matrices of a batch lie one behind the other, as the family's sizes have them.
bool is_packed(const family::MatrixLayout& layout) {
  return layout.stride == layout.rows * layout.ld;
}

bool fits_family(const family::GemmShape& shape) {
  return shape.k > 0 &&
         (shape.batch == 1 || (is_packed(shape.a) && is_packed(shape.b) && is_packed(shape.c)));
}

/// Records a size without a table as spaces/gemm.json names it, whose types are the first ones of
/// GemmType and whose first dimensions are those of BLAS; it could not be tuned in other types.
void record(Dispatcher& dispatcher, GemmType type, const BlasSize& blas) {
  static const space::Dimensions dims = space::parse_dimensions(
      parse_json(embedded::gemm_space(), "spaces/gemm.json").at("problem"), "spaces/gemm.json");
  if (type > GemmType::s8) return;
  space::Size size(blas.begin(), blas.end());
  for (std::size_t i = size.size(); i < dims.size(); ++i) {
    size.push_back(dims[i].types.empty() ? *dims[i].default_value->evaluate({})
                                         : static_cast<std::int64_t>(type));
  }
  dispatcher.engine().record("gemm", dims, size);
}

/// As the library takes them: of A and B nothing is read where k is 0.
void check_not_null(const Product& product) {
  const auto check = [&](const char* name, const void* matrix) {
    if (matrix != nullptr) return;
    const family::GemmShape& shape = product.shape;
    throw DispatchError(fmt::format("{} {}x{}x{}: {} is a null pointer", row_of(product.type).name,
                                    shape.m, shape.n, shape.k, name));
  };
  if (product.shape.k > 0) check("a", product.a);
  if (product.shape.k > 0) check("b", product.b);
  check("c", product.c);
}

/// In the family's dimensions.
BlasSize size_of(const family::GemmShape& shape) {
  return {shape.m,
          shape.n,
          shape.k,
          shape.batch,
          shape.trans_a == Transpose::yes,
          shape.trans_b == Transpose::yes,
          shape.a.ld,
          shape.b.ld,
          shape.c.ld};
}

/// What a kernel with epilogues takes; what its epilogue does not read may be any address.
std::array<DispatchArgument, 7> arguments_of(const Product& product) {
  const GemmTypeRow& types = row_of(product.type);
  const bool has_bias = product.epilogue.bias != Bias::none;
  return {factor(types, "alpha", product.alpha),
          product.a,
          product.b,
          factor(types, "beta", product.beta),
          product.c,
          has_bias ? product.bias : product.c,
          product.epilogue.residual ? product.residual : product.c};
}

/// Where kernels for a product are looked up.
struct Place {
  FamilyId family;
  dispatch::GemmSize size;
  std::size_t arguments;  ///< of a launch, of those of arguments_of()
};

/// In the family "gemm_tensor", which has epilogues, or else in "gemm". Nothing: the library serves
/// the product.
std::optional<Place> place_of(const dispatch::Engine& engine, GemmType type,
                              const family::GemmShape& shape, const Epilogue& epilogue) {
  if (!fits_family(shape)) return std::nullopt;
  const BlasSize size = size_of(shape);
  if (const auto tensor = engine.gemm_tensor_family(type)) {
    return Place{tensor->id, dispatch::GemmSize(*tensor, size, epilogue), 7};
  }
  if (!epilogue.is_none()) return std::nullopt;
  const auto family = engine.gemm_family(type);
  if (!family) return std::nullopt;
  return Place{family->id, dispatch::GemmSize(*family, size), 5};
}

bool is_empty(const family::GemmShape& shape) {
  return shape.m == 0 || shape.n == 0 || shape.batch == 0;
}

void multiply(Dispatcher& dispatcher, StreamHandle stream, const Product& product) {
  const family::GemmShape& shape = product.shape;
  const std::array<DispatchArgument, 7> arguments = arguments_of(product);
  if (is_empty(shape)) return;
  check_not_null(product);
  if (const auto place = place_of(dispatcher.engine(), product.type, shape, product.epilogue)) {
    try {
      return dispatcher.launch(place->family, place->size.numbers(),
                               std::span(arguments).first(place->arguments), stream);
    } catch (const dispatch::NotServed&) {
      if (!product.epilogue.is_none()) throw;
      return multiply_by_library(dispatcher, stream, product);
    }
  }
  if (fits_family(shape) && product.epilogue.is_none()) {
    record(dispatcher, product.type, size_of(shape));
  }
  multiply_by_library(dispatcher, stream, product);
}

/// Without a stride: the product of unchecked numbers may overflow. A matrix without elements may
/// have a leading dimension of 0, which libraries do not take.
family::MatrixLayout stored(std::int64_t rows, std::int64_t columns, Transpose transpose,
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

/// So many elements that no memory holds them, as family::check_shape has it.
constexpr double kTooManyElements = 0x1p56;

/// Refused here, where the caller's own names can be said.
void check_call(const char* function, const family::GemmShape& shape) {
  const auto fail = [&](const std::string& what) {
    throw DispatchError(fmt::format("{} {}x{}x{}: {}", function, shape.m, shape.n, shape.k, what));
  };
  if (shape.m < 0 || shape.n < 0 || shape.k < 0 || shape.batch < 0) fail("a size is negative");
  const auto check = [&](const char* name, const family::MatrixLayout& layout) {
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
family::GemmShape shape_of(const char* function, Transpose trans_a, Transpose trans_b,
                           std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                           std::int64_t ldb, std::int64_t ldc, std::int64_t batch = 1) {
  family::GemmShape shape{.m = m,
                          .n = n,
                          .k = k,
                          .trans_a = trans_a,
                          .trans_b = trans_b,
                          .batch = batch,
                          .a = stored(m, k, trans_a, lda),
                          .b = stored(k, n, trans_b, ldb),
                          .c = stored(m, n, Transpose::no, ldc)};
  check_call(function, shape);
  for (family::MatrixLayout* const layout : {&shape.a, &shape.b, &shape.c}) {
    layout->stride = layout->rows * layout->ld;
  }
  return shape;
}

/// Of a checked problem; throws as check_call and check_epilogue.
family::GemmShape shape_of(const GemmProblem& problem) {
  check_epilogue(row_of(problem.type).name, problem.epilogue);
  const auto ld = [](std::int64_t given, Transpose transpose, std::int64_t rows,
                     std::int64_t columns) {
    if (given != 0) return given;
    return std::max<std::int64_t>(transpose == Transpose::yes ? rows : columns, 1);
  };
  family::GemmShape shape =
      shape_of(row_of(problem.type).name, problem.trans_a, problem.trans_b, problem.m, problem.n,
               problem.k, ld(problem.lda, problem.trans_a, problem.m, problem.k),
               ld(problem.ldb, problem.trans_b, problem.k, problem.n),
               ld(problem.ldc, Transpose::no, problem.m, problem.n), problem.batch);
  if (shape.batch == 1) return shape;
  shape.a.stride = problem.stride_a.value_or(shape.a.stride);
  shape.b.stride = problem.stride_b.value_or(shape.b.stride);
  shape.c.stride = problem.stride_c.value_or(shape.c.stride);
  return shape;
}

}  // namespace

void gemm(Dispatcher& dispatcher, StreamHandle stream, const GemmProblem& problem, double alpha,
          const void* a, const void* b, double beta, void* c) {
  multiply(dispatcher, stream,
           {problem.type, shape_of(problem), alpha, a, b, beta, c, problem.epilogue, problem.bias,
            problem.residual});
}

void sgemm(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a, Transpose trans_b,
           std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
           std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
           std::int64_t ldc) {
  multiply(dispatcher, stream,
           {GemmType::f32, shape_of("sgemm", trans_a, trans_b, m, n, k, lda, ldb, ldc),
            static_cast<double>(alpha), a, b, static_cast<double>(beta), c});
}

void sgemm_strided_batched(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a,
                           Transpose trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                           float alpha, const float* a, std::int64_t lda, std::int64_t stride_a,
                           const float* b, std::int64_t ldb, std::int64_t stride_b, float beta,
                           float* c, std::int64_t ldc, std::int64_t stride_c, std::int64_t batch) {
  family::GemmShape shape = shape_of("sgemm", trans_a, trans_b, m, n, k, lda, ldb, ldc, batch);
  if (batch != 1) {
    shape.a.stride = stride_a;
    shape.b.stride = stride_b;
    shape.c.stride = stride_c;
  }
  multiply(dispatcher, stream,
           {GemmType::f32, shape, static_cast<double>(alpha), a, b, static_cast<double>(beta), c});
}

std::optional<GemmEntry> find_gemm(const Dispatcher& dispatcher, const GemmProblem& problem) {
  const family::GemmShape shape = shape_of(problem);
  if (is_empty(shape)) return std::nullopt;
  const auto place = place_of(dispatcher.engine(), problem.type, shape, problem.epilogue);
  if (!place || !dispatcher.engine().is_size(place->family, place->size.numbers())) {
    check_for_library(problem.type, shape, problem.epilogue);
    return std::nullopt;
  }
  const auto numbers = place->size.numbers();
  return GemmEntry{.family = place->family, .size = {numbers.begin(), numbers.end()}};
}

dispatch::KernelUse dispatch::gemm_by_kernel(Dispatcher& dispatcher, StreamHandle stream,
                                             const GemmProblem& problem, double alpha,
                                             const void* a, const void* b, double beta, void* c) {
  const Product product{problem.type,     shape_of(problem), alpha,           a, b, beta, c,
                        problem.epilogue, problem.bias,      problem.residual};
  if (!fits_family(product.shape)) return {.end = KernelEnd::unsuited};
  return dispatcher.engine().launch_gemm_kernel(problem.type, size_of(product.shape),
                                                problem.epilogue, arguments_of(product), stream);
}

}  // namespace tuner
