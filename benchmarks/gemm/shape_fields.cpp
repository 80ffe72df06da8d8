// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape_fields.hpp"

#include "tuner/core/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tuner::gemm_benchmark {
namespace {

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = {"M",   "N",   "K",   "BATCH", "TRANS_A", "TRANS_B",
                                               "LDA", "LDB", "LDC", "ALIGN", "TYPE"};
  return all;
}

using Fail = std::function<void(const std::string&)>;

void check_names(const Fields& fields, const Fail& fail) {
  for (const auto& [name, value] : fields.numbers) {
    if (std::ranges::count(names(), name) == 0) {
      fail(fmt::format("unknown dimension '{}'{}", name, did_you_mean(name, names())));
    }
    const std::int64_t least = name.starts_with("TRANS_") ? 0 : 1;
    if (value < least || value > std::numeric_limits<std::int32_t>::max()) {
      fail(fmt::format("{}={} is not in {}…2147483647", name, value, least));
    }
  }
  for (const char* name : {"M", "N", "K"}) {
    if (!fields.numbers.contains(name)) fail(fmt::format("{} is missing", name));
  }
}

void check_values(const Shape& shape, const Fail& fail) {
  if (shape.trans_a > 1 || shape.trans_b > 1) fail("TRANS_A and TRANS_B are 0 or 1");
  if (shape.align != 1 && shape.align != 2 && shape.align != 4) fail("ALIGN is 1, 2 or 4");
  const auto check = [&](const char* name, const StoredMatrix& matrix) {
    if (matrix.ld >= matrix.columns) return;
    fail(fmt::format("{}={} is less than the row's {} elements", name, matrix.ld, matrix.columns));
  };
  check("LDA", matrix_a(shape));
  check("LDB", matrix_b(shape));
  check("LDC", matrix_c(shape));
}

}  // namespace

Shape make_shape(const Fields& fields, const std::function<void(const std::string&)>& fail) {
  check_names(fields, fail);
  const auto value = [&](std::string_view name, std::int64_t otherwise) {
    const auto found = fields.numbers.find(name);
    return found == fields.numbers.end() ? otherwise : found->second;
  };
  Shape shape{.m = value("M", 1),
              .n = value("N", 1),
              .k = value("K", 1),
              .batch = value("BATCH", 1),
              .trans_a = value("TRANS_A", 0),
              .trans_b = value("TRANS_B", 0),
              .align = value("ALIGN", 4)};
  if (!fields.type.empty() && !set_type(shape, fields.type)) {
    fail(fmt::format("there is no TYPE '{}'{}; there are {}", fields.type,
                     did_you_mean(fields.type, type_names()), fmt::join(type_names(), ", ")));
  }
  shape.lda = value("LDA", matrix_a(shape).columns);
  shape.ldb = value("LDB", matrix_b(shape).columns);
  shape.ldc = value("LDC", matrix_c(shape).columns);
  check_values(shape, fail);
  return shape;
}

}  // namespace tuner::gemm_benchmark
