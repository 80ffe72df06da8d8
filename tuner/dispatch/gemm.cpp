// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/gemm.hpp"

#include "tuner/core/error.hpp"
#include "tuner/dispatch/blas_family.hpp"
#include "tuner/dispatch/engine.hpp"
#include "tuner/dispatch/gemm_kernel.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tuner {
namespace {

/// A call as it came.
struct Product {
  family::GemmShape shape;
  float alpha;
  const float* a;
  const float* b;
  float beta;
  float* c;
};

void multiply_by_library(Dispatcher& dispatcher, StreamHandle stream, const Product& product) {
  try {
    const auto end = dispatcher.engine().executor().run_library(
        {.type = family::ElementType::f32, .shape = product.shape},
        {.a = product.a,
         .b = product.b,
         .c = product.c,
         .alpha = product.alpha,
         .beta = product.beta},
        stream);
    if (!end) throw DispatchError("the library cannot multiply: " + end.error().message);
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

/// Those of the family that a table would have, for sizes that are recorded without it.
const space::Dimensions& blas_dimensions() {
  static const space::Dimensions dims = space::parse_dimensions(
      Json::parse(R"({"dims": ["M", "N", "K", {"name": "BATCH", "default": 1},
                               {"name": "TRANS_A", "values": [0, 1], "default": 0},
                               {"name": "TRANS_B", "values": [0, 1], "default": 0},
                               {"name": "LDA", "default": "TRANS_A ? M : K"},
                               {"name": "LDB", "default": "TRANS_B ? K : N"},
                               {"name": "LDC", "default": "N"}]})"),
      "gemm");
  return dims;
}

/// As the library takes them: of A and B nothing is read where k is 0.
void check_not_null(const Product& product) {
  const auto check = [&](const char* name, const float* matrix) {
    if (matrix != nullptr) return;
    const family::GemmShape& shape = product.shape;
    throw DispatchError(
        fmt::format("sgemm {}x{}x{}: {} is a null pointer", shape.m, shape.n, shape.k, name));
  };
  if (product.shape.k > 0) check("a", product.a);
  if (product.shape.k > 0) check("b", product.b);
  check("c", product.c);
}

/// In the family's dimensions.
std::array<std::int64_t, 9> size_of(const family::GemmShape& shape) {
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

void multiply(Dispatcher& dispatcher, StreamHandle stream, const Product& product) {
  const family::GemmShape& shape = product.shape;
  const auto family = dispatcher.engine().gemm_family();
  if (shape.m == 0 || shape.n == 0 || shape.batch == 0) return;
  check_not_null(product);
  if (!fits_family(shape)) return multiply_by_library(dispatcher, stream, product);
  const std::array<std::int64_t, 9> size = size_of(shape);
  if (!family) {
    dispatcher.engine().record("gemm", blas_dimensions(), {size.begin(), size.end()});
    return multiply_by_library(dispatcher, stream, product);
  }
  const std::array<DispatchArgument, 5> arguments = {product.alpha, product.a, product.b,
                                                     product.beta, product.c};
  dispatcher.launch(*family, size, arguments, stream);
}

family::MatrixLayout stored(std::int64_t rows, std::int64_t columns, Transpose transpose,
                            std::int64_t ld) {
  if (transpose == Transpose::yes) std::swap(rows, columns);
  return {.rows = rows, .columns = columns, .ld = ld, .stride = rows * ld};
}

/// Refused here, where the caller's own names can be said.
void check_call(const family::GemmShape& shape) {
  const auto fail = [&](const std::string& what) {
    throw DispatchError(fmt::format("sgemm {}x{}x{}: {}", shape.m, shape.n, shape.k, what));
  };
  if (shape.m < 0 || shape.n < 0 || shape.k < 0 || shape.batch < 0) fail("a size is negative");
  const auto check = [&](const char* name, const family::MatrixLayout& layout) {
    if (layout.ld >= std::max<std::int64_t>(layout.columns, 1)) return;
    fail(fmt::format("{} is {}, but a stored row has {} floats", name, layout.ld, layout.columns));
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
family::GemmShape shape_of(Transpose trans_a, Transpose trans_b, std::int64_t m, std::int64_t n,
                           std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                           std::int64_t batch = 1) {
  const family::GemmShape shape{.m = m,
                                .n = n,
                                .k = k,
                                .trans_a = trans_a,
                                .trans_b = trans_b,
                                .batch = batch,
                                .a = stored(m, k, trans_a, lda),
                                .b = stored(k, n, trans_b, ldb),
                                .c = stored(m, n, Transpose::no, ldc)};
  check_call(shape);
  return shape;
}

}  // namespace

bool dispatch::is_blas_gemm(const FamilyTable& family) {
  const std::vector<std::string> dims = {"M",       "N",   "K",   "BATCH", "TRANS_A",
                                         "TRANS_B", "LDA", "LDB", "LDC"};
  const std::vector<std::string> arguments = {"alpha", "A", "B", "beta", "C"};
  std::vector<std::string> names = family.family().problem.dims.names();
  if (family.family().name != "gemm" || names.size() < dims.size()) return false;
  names.resize(dims.size());
  std::vector<std::string> given;
  for (const dispatch::GivenArgument& argument : family.given()) {
    given.push_back(argument.name);
    const auto& what = family.family().arguments[argument.place].what;
    const auto* const matrix = std::get_if<family::BufferArgument>(&what);
    if (matrix != nullptr && matrix->type.by_default() != family::ElementType::f32) return false;
  }
  return names == dims && given == arguments;
}

void sgemm(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a, Transpose trans_b,
           std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
           std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
           std::int64_t ldc) {
  multiply(dispatcher, stream,
           {shape_of(trans_a, trans_b, m, n, k, lda, ldb, ldc), alpha, a, b, beta, c});
}

void sgemm_strided_batched(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a,
                           Transpose trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                           float alpha, const float* a, std::int64_t lda, std::int64_t stride_a,
                           const float* b, std::int64_t ldb, std::int64_t stride_b, float beta,
                           float* c, std::int64_t ldc, std::int64_t stride_c, std::int64_t batch) {
  family::GemmShape shape = shape_of(trans_a, trans_b, m, n, k, lda, ldb, ldc, batch);
  shape.a.stride = stride_a;
  shape.b.stride = stride_b;
  shape.c.stride = stride_c;
  multiply(dispatcher, stream, {shape, alpha, a, b, beta, c});
}

dispatch::KernelUse dispatch::sgemm_by_kernel(
    Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a, Transpose trans_b,
    std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a, std::int64_t lda,
    std::int64_t stride_a, const float* b, std::int64_t ldb, std::int64_t stride_b, float beta,
    float* c, std::int64_t ldc, std::int64_t stride_c, std::int64_t batch) {
  family::GemmShape shape = shape_of(trans_a, trans_b, m, n, k, lda, ldb, ldc, batch);
  shape.a.stride = stride_a;
  shape.b.stride = stride_b;
  shape.c.stride = stride_c;
  if (!fits_family(shape)) return {.end = KernelEnd::unsuited};
  const std::array<DispatchArgument, 5> arguments = {alpha, a, b, beta, c};
  return dispatcher.engine().launch_gemm_kernel(size_of(shape), arguments, stream);
}

}  // namespace tuner
