// SPDX-License-Identifier: Apache-2.0
// The one table of data types. What differs from type to type is a column of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tuner {

/// The types of the elements of buffers and arrays; numbers passed by value have those that C++ has
/// too. tf32 is float in memory, of which tensor cores read 19 bits.
enum class ElementType {
  f64,
  f32,
  tf32,
  bf16,
  f16,
  e4m3,
  e5m2,
  s64,
  u64,
  s32,
  u32,
  s16,
  u16,
  s8,
  u8
};

/// In the table's order.
inline constexpr std::array kElementTypes = {
    ElementType::f64,  ElementType::f32,  ElementType::tf32, ElementType::bf16, ElementType::f16,
    ElementType::e4m3, ElementType::e5m2, ElementType::s64,  ElementType::u64,  ElementType::s32,
    ElementType::u32,  ElementType::s16,  ElementType::u16,  ElementType::s8,   ElementType::u8};

enum class NumberKind { floating, signed_integer, unsigned_integer };

/// The bits of a floating-point number: a sign, the exponent, the fraction, bits that are not used.
struct FloatFormat {
  int exponent_bits = 0, fraction_bits = 0, unused_bits = 0;
  bool has_infinity = true;  ///< without: all ones is NaN, other largest exponents are of numbers
};

/// What another interface calls a type.
struct ForeignName {
  int value = -1;              ///< −1: it does not have the type
  std::string_view name = {};  ///< of the enumerator
};

/// 32 bits, of elements as many as fit: some fixed, the others as they come.
struct WordPattern {
  std::uint32_t fixed = 0, free = 0;
};

/// All that is known of a type.
struct ElementTypeRow {
  ElementType type;
  std::string_view name;        ///< in messages, and a space file: as in C++ where C++ has the type
  std::string_view short_name;  ///< "bf16", as a space file may say too
  std::string_view alias;       ///< one more name; empty: none
  std::string_view cpp_name;    ///< of a kernel's parameter
  int bits;
  NumberKind kind;
  FloatFormat format;  ///< of a floating-point type
  /// NaN, but none that an operation results in; of integers a pattern.
  WordPattern nan;
  ForeignName cuda;         ///< cudaDataType_t
  ForeignName tensor_map;   ///< CUtensorMapDataType
  std::string_view numpy;   ///< "<f4"; empty: NumPy has none
  std::string_view t1;      ///< "int32" in a T1 description; empty: T1 has none
  std::string_view header;  ///< that declares it for a kernel; empty: none needs to
};

[[nodiscard]] const ElementTypeRow& row(ElementType type);

/// The bits of an element. In memory elements follow one another without gaps.
[[nodiscard]] int bits(ElementType type);
/// The bytes that `count` ≥ 0 elements take in memory; a byte of which they fill a part is one.
[[nodiscard]] std::size_t bytes_of(ElementType type, std::int64_t count);
/// The bytes of one element, by which it is addressed alone. Throws Error(usage) for a type of
/// which elements share a byte: `bytes_of(type, 1)` would pass for one that each has.
[[nodiscard]] std::size_t element_bytes(ElementType type);
[[nodiscard]] std::size_t element_bytes(const ElementTypeRow& row);
/// How many whole elements bytes hold.
[[nodiscard]] std::size_t elements_in(ElementType type, std::size_t bytes);
/// The name in messages and in a space file: "int", "unsigned short", "__nv_bfloat16".
[[nodiscard]] std::string_view name(ElementType type);
/// Takes every name that the table has.
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view text);
[[nodiscard]] bool is_floating(ElementType type);
/// Unit roundoff: 2^-24 for float, 2^-53 for double, 2^-8 for bf16, 0 for integers.
[[nodiscard]] double unit_roundoff(ElementType type);
/// The greatest number up to which the type holds every whole number exactly.
[[nodiscard]] double largest_exact_integer(ElementType type);
/// The greatest finite number, and the least one above 0.
[[nodiscard]] double largest_number(ElementType type);
[[nodiscard]] double smallest_number(ElementType type);
/// The type that sums of products of such numbers are computed in where nothing else is said:
/// double for double, float for every other floating-point type, int for integers of up to 32 bits.
[[nodiscard]] ElementType accumulator(ElementType type);
/// The type of an error of such a number, which needs its range more than its precision: float for
/// floating-point types of less than 32 bits, else the type itself.
[[nodiscard]] ElementType error_type(ElementType type);
/// The least and the greatest number of an integer type, as far as 64 signed bits hold it; those
/// of 64 signed bits for a floating-point type.
struct IntegerRange {
  std::int64_t least, greatest;
};
[[nodiscard]] IntegerRange integer_range(ElementType type);

/// The bits of the number of the type nearest to a value, ties to even; beyond the largest:
/// infinity, or NaN where the type has none. Of integers: the value without its fraction.
[[nodiscard]] std::uint64_t bits_of(ElementType type, double value);
/// The number that such bits are; of 64-bit integers as close as a double comes.
[[nodiscard]] double number_of(ElementType type, std::uint64_t bits);
/// The bits of the number `units` units in the last place further from 0 (negative: nearer).
/// Unchanged if the number is not finite, or if the result would not be or would change its sign.
/// Floating point only.
[[nodiscard]] std::uint64_t moved_bits(ElementType type, std::uint64_t bits, std::int64_t units);

/// A scalar as a kernel receives it.
using Scalar = std::variant<std::int32_t, std::uint32_t, std::int64_t, float, double, std::uint16_t,
                            std::int16_t, std::int8_t, std::uint8_t, std::uint64_t>;
/// Whether numbers of the type can be passed by value.
[[nodiscard]] bool is_scalar_type(ElementType type);
/// Rounds to the nearest for float and double; throws Error(usage) when an integer type cannot hold
/// the value. For types that is_scalar_type allows.
[[nodiscard]] Scalar make_scalar(ElementType type, std::int64_t value);
/// A scalar of a number with a fraction, which only float and double take.
[[nodiscard]] Scalar make_real_scalar(ElementType type, double value);

}  // namespace tuner
