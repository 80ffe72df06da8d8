// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/element_type.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace tuner::family {
namespace {

/// One row for each type: all that is known of it.
struct TypeRow {
  ElementType type;
  std::string_view name;
  std::size_t size_bytes;
  bool is_floating;
  double unit_roundoff;
  IntegerRange range;
  Scalar (*from_integer)(std::int64_t value);
};

template <class T>
Scalar from_integer(std::int64_t value) {
  return static_cast<T>(value);
}

template <class T>
constexpr TypeRow row(ElementType type, std::string_view name) {
  using Limits = std::numeric_limits<T>;
  constexpr IntegerRange kAll = {std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
  TypeRow result{type, name, sizeof(T), std::is_floating_point_v<T>, 0, kAll, from_integer<T>};
  if constexpr (std::is_floating_point_v<T>) {
    result.unit_roundoff = 0.5 * static_cast<double>(Limits::epsilon());
  } else if constexpr (sizeof(T) < sizeof(std::int64_t)) {
    result.range = {Limits::min(), Limits::max()};
  } else if constexpr (!Limits::is_signed) {
    result.range.least = 0;
  }
  return result;
}

constexpr std::array<TypeRow, kElementTypes.size()> kRows = {
    {row<std::int32_t>(ElementType::i32, "int"), row<std::uint32_t>(ElementType::u32, "unsigned"),
     row<std::int64_t>(ElementType::i64, "long long"), row<float>(ElementType::f32, "float"),
     row<double>(ElementType::f64, "double"),
     row<std::uint16_t>(ElementType::u16, "unsigned short"),
     row<std::int16_t>(ElementType::i16, "short"), row<std::int8_t>(ElementType::i8, "signed char"),
     row<std::uint8_t>(ElementType::u8, "unsigned char"),
     row<std::uint64_t>(ElementType::u64, "unsigned long long")}};

const TypeRow& row_of(ElementType type) {
  return *std::ranges::find(kRows, type, &TypeRow::type);
}

}  // namespace

std::size_t size_bytes(ElementType type) {
  return row_of(type).size_bytes;
}

std::string_view name(ElementType type) {
  return row_of(type).name;
}

std::optional<ElementType> element_type_from_name(std::string_view text) {
  if (text == "char") return ElementType::i8;
  const auto* const found = std::ranges::find(kRows, text, &TypeRow::name);
  return found == kRows.end() ? std::nullopt : std::optional(found->type);
}

bool is_floating(ElementType type) {
  return row_of(type).is_floating;
}

double unit_roundoff(ElementType type) {
  return row_of(type).unit_roundoff;
}

IntegerRange integer_range(ElementType type) {
  return row_of(type).range;
}

Scalar make_scalar(ElementType type, std::int64_t value) {
  const TypeRow& row = row_of(type);
  if (value < row.range.least || value > row.range.greatest) {
    throw Error(ErrorCode::usage,
                fmt::format("{} does not fit an argument of type '{}'", value, row.name));
  }
  return row.from_integer(value);
}

Scalar make_real_scalar(ElementType type, double value) {
  if (type == ElementType::f32) return static_cast<float>(value);
  if (type == ElementType::f64) return value;
  throw Error(ErrorCode::usage,
              fmt::format("{} has a fraction; an argument of type '{}' is a whole number", value,
                          name(type)));
}

}  // namespace tuner::family
