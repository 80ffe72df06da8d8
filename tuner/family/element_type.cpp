// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/element_type.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tuner {
namespace {

template <class T>
T narrow(ElementType type, std::int64_t value) {
  if (!std::in_range<T>(value)) {
    throw Error(ErrorCode::usage,
                fmt::format("{} does not fit an argument of type '{}'", value, name(type)));
  }
  return static_cast<T>(value);
}

}  // namespace

std::size_t size_bytes(ElementType type) {
  switch (type) {
    case ElementType::u16:
      return 2;
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::f32:
      return 4;
    case ElementType::i64:
    case ElementType::f64:
      return 8;
  }
  return 0;
}

std::string_view name(ElementType type) {
  switch (type) {
    case ElementType::i32:
      return "int";
    case ElementType::u32:
      return "unsigned";
    case ElementType::i64:
      return "long long";
    case ElementType::f32:
      return "float";
    case ElementType::f64:
      return "double";
    case ElementType::u16:
      return "unsigned short";
  }
  return "unknown";
}

std::optional<ElementType> element_type_from_name(std::string_view text) {
  for (const ElementType type : kElementTypes) {
    if (name(type) == text) return type;
  }
  return std::nullopt;
}

double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return 0.5 * double{std::numeric_limits<float>::epsilon()};
    case ElementType::f64:
      return 0.5 * std::numeric_limits<double>::epsilon();
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::i64:
    case ElementType::u16:
      return 0.0;
  }
  return 0.0;
}

Scalar make_scalar(ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::i32:
      return narrow<std::int32_t>(type, value);
    case ElementType::u32:
      return narrow<std::uint32_t>(type, value);
    case ElementType::i64:
      return value;
    case ElementType::f32:
      return static_cast<float>(value);
    case ElementType::f64:
      return static_cast<double>(value);
    case ElementType::u16:
      break;
  }
  throw Error(ErrorCode::usage, fmt::format("no argument by value is of type '{}'", name(type)));
}

}  // namespace tuner
