// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace tuner::family {

/// The types of a number that is passed by value, and of the elements of buffers and arrays.
enum class ElementType { i32, u32, i64, f32, f64, u16, i16, i8, u8, u64 };

inline constexpr std::array kElementTypes = {
    ElementType::i32, ElementType::u32, ElementType::i64, ElementType::f32, ElementType::f64,
    ElementType::u16, ElementType::i16, ElementType::i8,  ElementType::u8,  ElementType::u64};

[[nodiscard]] std::size_t size_bytes(ElementType type);
/// The name in C++ and in a space file: "int", "unsigned short", "signed char".
[[nodiscard]] std::string_view name(ElementType type);
/// Also takes "char" for "signed char", which it is on a GPU.
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name);
[[nodiscard]] bool is_floating(ElementType type);
/// Unit roundoff: 2^-24 for float, 2^-53 for double, 0 for integers.
[[nodiscard]] double unit_roundoff(ElementType type);
/// The least and the greatest number of an integer type, as far as 64 signed bits hold it; those
/// of 64 signed bits for a floating-point type.
struct IntegerRange {
  std::int64_t least, greatest;
};
[[nodiscard]] IntegerRange integer_range(ElementType type);

/// A scalar as a kernel receives it.
using Scalar = std::variant<std::int32_t, std::uint32_t, std::int64_t, float, double, std::uint16_t,
                            std::int16_t, std::int8_t, std::uint8_t, std::uint64_t>;
/// Rounds to the nearest for float and double; throws Error(usage) when an integer type cannot hold
/// the value.
[[nodiscard]] Scalar make_scalar(ElementType type, std::int64_t value);
/// The same of a number with a fraction, which only float and double take.
[[nodiscard]] Scalar make_real_scalar(ElementType type, double value);

}  // namespace tuner::family
