// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace tuner {

/// The types an element of a buffer or an array may have. A number by value is no u16.
enum class ElementType { i32, u32, i64, f32, f64, u16 };

inline constexpr std::array kScalarTypes = {ElementType::i32, ElementType::u32, ElementType::i64,
                                            ElementType::f32, ElementType::f64};
inline constexpr std::array kElementTypes = {ElementType::i32, ElementType::u32, ElementType::i64,
                                             ElementType::f32, ElementType::f64, ElementType::u16};

[[nodiscard]] std::size_t size_bytes(ElementType type);
/// The name in C++ and in a space file: "int", "unsigned", "long long", "float", "double",
/// "unsigned short".
[[nodiscard]] std::string_view name(ElementType type);
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name);
/// Unit roundoff: 2^-24 for float, 2^-53 for double, 0 for integers (they are compared exactly).
[[nodiscard]] double unit_roundoff(ElementType type);

/// A scalar as a kernel receives it.
using Scalar = std::variant<std::int32_t, std::uint32_t, std::int64_t, float, double>;
/// Rounds to the nearest for float and double; throws Error(usage) when an integer type cannot hold
/// the value, and for u16.
[[nodiscard]] Scalar make_scalar(ElementType type, std::int64_t value);

}  // namespace tuner
