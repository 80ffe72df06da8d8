// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape.hpp"

#include "benchmarks/gemm/shape_fields.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace tuner::gemm_benchmark {
namespace {

constexpr std::array<std::string_view, 3> kSizes = {"M", "N", "K"};

struct TypeRow {
  std::string_view name;
  ElementType type, result;
};
constexpr std::array<TypeRow, 9> kTypes = {{{"f32", ElementType::f32, ElementType::f32},
                                            {"tf32", ElementType::tf32, ElementType::f32},
                                            {"f64", ElementType::f64, ElementType::f64},
                                            {"bf16", ElementType::bf16, ElementType::bf16},
                                            {"bf16_f32", ElementType::bf16, ElementType::f32},
                                            {"f16", ElementType::f16, ElementType::f16},
                                            {"f16_f32", ElementType::f16, ElementType::f32},
                                            {"s8", ElementType::s8, ElementType::s32},
                                            {"e4m3", ElementType::e4m3, ElementType::bf16}}};

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
  if (!named && fields.numbers.size() >= kSizes.size()) {
    throw Error(ErrorCode::usage,
                fmt::format("size '{}': after M, N and K come names, such as BATCH=8", whole));
  }
  const std::string_view name = named ? item.substr(0, equals) : kSizes.at(fields.numbers.size());
  const std::string_view value = named ? item.substr(equals + 1) : item;
  if (name == "TYPE") {
    if (std::exchange(fields.type, value).empty()) return;
    throw Error(ErrorCode::usage, fmt::format("size '{}': TYPE appears twice", whole));
  }
  if (!fields.numbers.emplace(name, number(value, whole)).second) {
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

std::int64_t offset_bytes(const Shape& shape) {
  return 4 * (shape.align % 4);
}

std::string_view type_name(const Shape& shape) {
  return std::ranges::find_if(kTypes,
                              [&](const TypeRow& row) {
                                return row.type == shape.type && row.result == shape.result;
                              })
      ->name;
}

bool set_type(Shape& shape, std::string_view name) {
  const auto row = std::ranges::find(kTypes, name, &TypeRow::name);
  if (row == kTypes.end()) return false;
  shape.type = row->type;
  shape.result = row->result;
  return true;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const TypeRow& row : kTypes) names.emplace_back(row.name);
  return names;
}

double flops(const Shape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) * static_cast<double>(shape.batch);
}

double bytes(const Shape& shape) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return static_cast<double>(shape.batch) *
         (static_cast<double>(size_bytes(shape.type)) * (m * k + k * n) +
          static_cast<double>(size_bytes(shape.result)) * m * n);
}

std::int64_t operand_bytes(const Shape& shape) {
  const auto of = static_cast<std::int64_t>(size_bytes(shape.type));
  const auto of_c = static_cast<std::int64_t>(size_bytes(shape.result));
  return shape.batch * (of * (matrix_a(shape).stride() + matrix_b(shape).stride()) +
                        of_c * matrix_c(shape).stride());
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
  const Fields least = {.numbers = {{"M", shape.m},
                                    {"N", shape.n},
                                    {"K", shape.k},
                                    {"TRANS_A", shape.trans_a},
                                    {"TRANS_B", shape.trans_b}}};
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
  if (type_name(shape) != "f32") text += fmt::format(",TYPE={}", type_name(shape));
  return text;
}

}  // namespace tuner::gemm_benchmark
