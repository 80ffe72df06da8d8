// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace tuner::gemm_benchmark {
namespace {

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
  constexpr double kByteBits = 8;
  return static_cast<double>(shape.batch) / kByteBits *
         (bits(shape.type) * (m * k + k * n) + bits(shape.result) * m * n);
}

std::int64_t operand_bytes(const Shape& shape) {
  const std::int64_t inputs = matrix_a(shape).stride() + matrix_b(shape).stride();
  return static_cast<std::int64_t>(bytes_of(shape.type, shape.batch * inputs) +
                                   bytes_of(shape.result, shape.batch * matrix_c(shape).stride()));
}

std::size_t operand_sets(const Shape& shape, std::int64_t l2_bytes) {
  constexpr std::int64_t kFewest = 2;
  constexpr std::int64_t kMost = 1024;
  const std::int64_t one = operand_bytes(shape);
  return static_cast<std::size_t>(std::clamp((3 * l2_bytes + one - 1) / one, kFewest, kMost));
}

namespace {

/// The dimensions that are given, in a suite or on the command line.
struct Fields {
  std::map<std::string, std::int64_t, std::less<>> numbers;  ///< by name
  std::string type = {};                                     ///< TYPE; empty: none
};

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

/// Those that are not given take their defaults. Calls `fail`, which is to throw, with what is
/// wrong: an unknown name, a missing one, a value out of range.
Shape make_shape(const Fields& fields, const Fail& fail) {
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

namespace {

constexpr std::size_t kMostGroups = 100;
constexpr std::size_t kMostShapes = 1000;

Shape shape_of(const family::DocumentNode& node) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  Fields fields;
  if (node.json().is_object()) {
    for (const auto& [name, member] : node.named_members()) {
      if (name == "TYPE") {
        fields.type = member.text();
      } else {
        fields.numbers.emplace(name, member.integer(0, kLargest));
      }
    }
  } else {
    const std::vector<family::DocumentNode> numbers = node.elements(3, 3);
    fields.numbers = {{"M", numbers[0].integer(1, kLargest)},
                      {"N", numbers[1].integer(1, kLargest)},
                      {"K", numbers[2].integer(1, kLargest)}};
  }
  return make_shape(fields, [&](const std::string& what) { node.fail(what); });
}

void add_group(std::vector<SuiteShape>& shapes, const family::DocumentNode& group) {
  group.expect_keys({"name", "doc", "sizes"});
  const std::string name = group.at("name").name();
  for (const family::DocumentNode& size : group.at("sizes").elements(1, kMostShapes)) {
    const Shape shape = shape_of(size);
    const auto same = std::ranges::find(shapes, shape, &SuiteShape::shape);
    if (same != shapes.end()) {
      size.fail(
          fmt::format("{} appears twice, the first time in '{}'", display(shape), same->group));
    }
    shapes.push_back({.group = name, .shape = shape});
  }
}

}  // namespace

std::vector<SuiteShape> parse_suite(std::string_view text, std::string_view origin,
                                    std::string_view group) {
  const Json json = parse_json(text, origin);
  const family::DocumentNode root(json, std::string(origin));
  root.expect_keys({"$schema", "format", "family", "doc", "groups"});
  if (root.at("format").text() != "suite/1") {
    root.at("format").fail("must be \"suite/1\": it is the only format this program reads");
  }
  if (!root.at("family").text().starts_with("gemm")) {
    root.at("family").fail("must be \"gemm\" or begin so: the benchmark multiplies matrices only");
  }
  std::vector<SuiteShape> shapes;
  std::vector<std::string> groups;
  for (const family::DocumentNode& each : root.at("groups").elements(1, kMostGroups)) {
    add_group(shapes, each);
    groups.push_back(shapes.back().group);
  }
  if (group.empty()) return shapes;
  if (std::ranges::count(groups, group) == 0) {
    throw Error(ErrorCode::usage, fmt::format("{}: there is no group '{}'{}", origin, group,
                                              did_you_mean(group, groups)));
  }
  std::erase_if(shapes, [&](const SuiteShape& each) { return each.group != group; });
  return shapes;
}

std::vector<SuiteShape> read_suite(std::string_view place) {
  constexpr std::size_t kLimit_bytes = std::size_t{1} << 20;
  const std::size_t colon = place.rfind(':');
  const std::string path(place.substr(0, colon));
  const std::string_view group =
      colon == std::string_view::npos ? std::string_view() : place.substr(colon + 1);
  return parse_suite(read_file(path, kLimit_bytes), path, group);
}

std::optional<space::Size> size_of(const Shape& shape, const family::Problem& problem) {
  const std::map<std::string, std::int64_t> values = {{"M", shape.m},
                                                      {"N", shape.n},
                                                      {"K", shape.k},
                                                      {"BATCH", shape.batch},
                                                      {"TRANS_A", shape.trans_a},
                                                      {"TRANS_B", shape.trans_b},
                                                      {"LDA", shape.lda},
                                                      {"LDB", shape.ldb},
                                                      {"LDC", shape.ldc},
                                                      {"ALIGN", shape.align}};
  const std::vector<std::string> names = problem.dims.names();
  // Where the family has no such dimension, the shape must be that of a plain product.
  const Shape plain = parse_shape(fmt::format("{},{},{}", shape.m, shape.n, shape.k));
  const std::map<std::string, std::int64_t> otherwise = {
      {"BATCH", 1},       {"TRANS_A", 0},     {"TRANS_B", 0},        {"LDA", plain.lda},
      {"LDB", plain.ldb}, {"LDC", plain.ldc}, {"ALIGN", plain.align}};
  for (const auto& [name, value] : values) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const auto expected = otherwise.find(name);
    if (expected == otherwise.end() || expected->second != value) return std::nullopt;
  }
  std::vector<std::optional<std::int64_t>> numbers;
  bool has_types = false;
  for (const std::string& name : names) {
    const space::Dimension& dimension = problem.dims[numbers.size()];
    if (!dimension.types.empty()) {
      const auto type = dimension.value_of(type_name(shape));
      if (!type) return std::nullopt;
      numbers.emplace_back(*type);
      has_types = true;
      continue;
    }
    const auto value = values.find(name);
    numbers.push_back(value == values.end() ? std::nullopt : std::optional(value->second));
  }
  if (!has_types && type_name(shape) != "f32") return std::nullopt;
  auto size = problem.dims.complete(numbers);
  return size ? std::optional(*std::move(size)) : std::nullopt;
}

}  // namespace tuner::gemm_benchmark
