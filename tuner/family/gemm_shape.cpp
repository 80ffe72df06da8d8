// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/gemm_shape.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tuner::family {
namespace {

constexpr const char* kGemmOperation = "gemm";

[[noreturn]] void fail(const std::string& text) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", kGemmOperation, text));
}

}  // namespace

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
    fail(fmt::format("m={}, n={}, k={}, batch={}: none can be negative, and batch is at least 1",
                     shape.m, shape.n, shape.k, shape.batch));
  }
  check_layout(kGemmOperation, 'a', shape.a, shape.batch);
  check_layout(kGemmOperation, 'b', shape.b, shape.batch);
  check_layout(kGemmOperation, 'c', shape.c, shape.batch);
  const MatrixLayout one = {shape.c.rows, shape.c.columns, shape.c.ld, 0};
  if (shape.batch == 1 || shape.c.stride >= elements(one, 1)) return;
  if (interleaved(shape.c, shape.batch)) return;
  fail(fmt::format("stride_c is {}, but a matrix of c takes {} elements: they would overlap",
                   shape.c.stride, elements(one, 1)));
}

}  // namespace tuner::family
