// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/geam_shape.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::family {
namespace {

constexpr const char* kOperation = "geam";

}  // namespace

GeamShape packed_geam(std::int64_t m, std::int64_t n, Transpose trans_a, Transpose trans_b) {
  return {.m = m,
          .n = n,
          .trans_a = trans_a,
          .trans_b = trans_b,
          .a = packed_matrix(kOperation, m, n, trans_a),
          .b = packed_matrix(kOperation, m, n, trans_b),
          .c = packed_matrix(kOperation, m, n, Transpose::no)};
}

void check_shape(const GeamShape& shape) {
  if (std::min(shape.m, shape.n) < 0) {
    throw Error(ErrorCode::usage, fmt::format("{}: m={}, n={}: neither can be negative", kOperation,
                                              shape.m, shape.n));
  }
  check_layout(kOperation, 'a', shape.a, GeamShape::batch);
  check_layout(kOperation, 'b', shape.b, GeamShape::batch);
  check_layout(kOperation, 'c', shape.c, GeamShape::batch);
}

}  // namespace tuner::family
