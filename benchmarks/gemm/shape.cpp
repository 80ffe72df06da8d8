// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape.hpp"

#include "benchmarks/gemm/shape_fields.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tuner::gemm_benchmark {
namespace {

constexpr std::array<std::string_view, 3> kSizes = {"M", "N", "K"};

std::int64_t number(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw Error(ErrorCode::usage,
              fmt::format("size '{}': '{}' is no whole number; write 1024,1024,1024 or "
                          "1024,1024,1024,TRANS_B=1,LDA=1032",
                          whole, text));
}

/// "1024" is the next of M, N, K; "LDA=1032" the one it names.
void add_item(Fields& fields, std::string_view item, std::string_view whole) {
  const std::size_t equals = item.find('=');
  const bool named = equals != std::string_view::npos;
  if (!named && fields.size() >= kSizes.size()) {
    throw Error(ErrorCode::usage,
                fmt::format("size '{}': after M, N and K come names, such as BATCH=8", whole));
  }
  const std::string_view name = named ? item.substr(0, equals) : kSizes.at(fields.size());
  const std::string_view value = named ? item.substr(equals + 1) : item;
  if (!fields.emplace(name, number(value, whole)).second) {
    throw Error(ErrorCode::usage, fmt::format("size '{}': {} appears twice", whole, name));
  }
}

}  // namespace

StoredMatrix matrix_a(const Shape& shape) {
  if (shape.trans_a == 0) return {.rows = shape.m, .columns = shape.k, .ld = shape.lda};
  return {.rows = shape.k, .columns = shape.m, .ld = shape.lda};
}

StoredMatrix matrix_b(const Shape& shape) {
  if (shape.trans_b == 0) return {.rows = shape.k, .columns = shape.n, .ld = shape.ldb};
  return {.rows = shape.n, .columns = shape.k, .ld = shape.ldb};
}

StoredMatrix matrix_c(const Shape& shape) {
  return {.rows = shape.m, .columns = shape.n, .ld = shape.ldc};
}

std::int64_t offset(const Shape& shape) {
  return shape.align % 4;
}

double flops(const Shape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) * static_cast<double>(shape.batch);
}

double bytes(const Shape& shape) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return 4.0 * static_cast<double>(shape.batch) * (m * k + k * n + m * n);
}

std::int64_t operand_bytes(const Shape& shape) {
  return 4 * shape.batch *
         (matrix_a(shape).stride() + matrix_b(shape).stride() + matrix_c(shape).stride());
}

std::size_t operand_sets(const Shape& shape, std::int64_t l2_bytes) {
  constexpr std::int64_t kFewest = 2;
  constexpr std::int64_t kMost = 1024;
  const std::int64_t one = operand_bytes(shape);
  return static_cast<std::size_t>(std::clamp((3 * l2_bytes + one - 1) / one, kFewest, kMost));
}

Shape parse_shape(std::string_view text) {
  Fields fields;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",x", at), text.size());
    add_item(fields, text.substr(at, end - at), text);
    at = end + 1;
  }
  return make_shape(fields, [&](const std::string& what) {
    throw Error(ErrorCode::usage, fmt::format("size '{}': {}", text, what));
  });
}

std::string display(const Shape& shape) {
  Fields least = {{"M", shape.m},
                  {"N", shape.n},
                  {"K", shape.k},
                  {"TRANS_A", shape.trans_a},
                  {"TRANS_B", shape.trans_b}};
  const Shape plain = make_shape(least, [](const std::string&) {});
  std::string text = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  const auto add = [&](std::string_view name, std::int64_t value, std::int64_t otherwise) {
    if (value != otherwise) text += fmt::format(",{}={}", name, value);
  };
  add("BATCH", shape.batch, 1);
  add("TRANS_A", shape.trans_a, 0);
  add("TRANS_B", shape.trans_b, 0);
  add("LDA", shape.lda, plain.lda);
  add("LDB", shape.ldb, plain.ldb);
  add("LDC", shape.ldc, plain.ldc);
  add("ALIGN", shape.align, 4);
  return text;
}

}  // namespace tuner::gemm_benchmark
