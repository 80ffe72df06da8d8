// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/element_type.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tuner {
namespace {

constexpr NumberKind kFloating = NumberKind::floating, kSigned = NumberKind::signed_integer,
                     kUnsigned = NumberKind::unsigned_integer;
// Never twice the same in 32 bits; what results from NaN in 16 bits is 0x7FFF, which has no zero.
constexpr WordPattern kNan32{0x7FF00000, 0x000FFFFF}, kNan16{0x7FC07FC0, 0x803E803E},
    kNanE4m3{0x7F7F7F7F, 0x80808080}, kNanE5m2{0x7D7D7D7D, 0x80808080};
constexpr FloatFormat kInteger{};
constexpr ForeignName kNone{};
constexpr std::size_t kByteBits = 8;

// clang-format off
constexpr std::array<ElementTypeRow, kElementTypes.size()> kRows = {{
    {ElementType::f64,  "double",             "f64",  "",            "double",             64, kFloating, {11, 52},         kNan32,
     {1, "CUDA_R_64F"},      {8, "CU_TENSOR_MAP_DATA_TYPE_FLOAT64"},   "<f8", "double",   ""},
    {ElementType::f32,  "float",              "f32",  "",            "float",              32, kFloating, {8, 23},          kNan32,
     {0, "CUDA_R_32F"},      {7, "CU_TENSOR_MAP_DATA_TYPE_FLOAT32"},   "<f4", "float",    ""},
    {ElementType::tf32, "tf32",               "tf32", "",            "float",              32, kFloating, {8, 10, 13},      kNan32,
     {0, "CUDA_R_32F"},      {11, "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32"}, "<f4", "",         ""},
    {ElementType::bf16, "__nv_bfloat16",      "bf16", "nv_bfloat16", "__nv_bfloat16",      16, kFloating, {8, 7},           kNan16,
     {14, "CUDA_R_16BF"},    {9, "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"},  "",    "",         "cuda_bf16.h"},
    {ElementType::f16,  "__half",             "f16",  "half",        "__half",             16, kFloating, {5, 10},          kNan16,
     {2, "CUDA_R_16F"},      {6, "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"},   "<f2", "half",     "cuda_fp16.h"},
    {ElementType::e4m3, "__nv_fp8_e4m3",      "e4m3", "",            "__nv_fp8_e4m3",       8, kFloating, {4, 3, 0, false}, kNanE4m3,
     {28, "CUDA_R_8F_E4M3"}, {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},     "",    "",         "cuda_fp8.h"},
    {ElementType::e5m2, "__nv_fp8_e5m2",      "e5m2", "",            "__nv_fp8_e5m2",       8, kFloating, {5, 2},           kNanE5m2,
     {29, "CUDA_R_8F_E5M2"}, {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},     "",    "",         "cuda_fp8.h"},
    {ElementType::s64,  "long long",          "s64",  "",            "long long",          64, kSigned,   kInteger,         kNan32,
     {24, "CUDA_R_64I"},     {5, "CU_TENSOR_MAP_DATA_TYPE_INT64"},     "<i8", "int64",    ""},
    {ElementType::u64,  "unsigned long long", "u64",  "",            "unsigned long long", 64, kUnsigned, kInteger,         kNan32,
     {26, "CUDA_R_64U"},     {4, "CU_TENSOR_MAP_DATA_TYPE_UINT64"},    "<u8", "uint64",   ""},
    {ElementType::s32,  "int",                "s32",  "",            "int",                32, kSigned,   kInteger,         kNan32,
     {10, "CUDA_R_32I"},     {3, "CU_TENSOR_MAP_DATA_TYPE_INT32"},     "<i4", "int32",    ""},
    {ElementType::u32,  "unsigned",           "u32",  "",            "unsigned",           32, kUnsigned, kInteger,         kNan32,
     {12, "CUDA_R_32U"},     {2, "CU_TENSOR_MAP_DATA_TYPE_UINT32"},    "<u4", "uint32",   ""},
    {ElementType::s16,  "short",              "s16",  "",            "short",              16, kSigned,   kInteger,         kNan32,
     {20, "CUDA_R_16I"},     kNone,                                    "<i2", "int16",    ""},
    {ElementType::u16,  "unsigned short",     "u16",  "",            "unsigned short",     16, kUnsigned, kInteger,         kNan32,
     {22, "CUDA_R_16U"},     {1, "CU_TENSOR_MAP_DATA_TYPE_UINT16"},    "<u2", "uint16",   ""},
    {ElementType::s8,   "signed char",        "s8",   "char",        "signed char",         8, kSigned,   kInteger,         kNan32,
     {3, "CUDA_R_8I"},       {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},     "|i1", "int8",     ""},
    {ElementType::u8,   "unsigned char",      "u8",   "",            "unsigned char",       8, kUnsigned, kInteger,         kNan32,
     {8, "CUDA_R_8U"},       {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},     "|u1", "uint8",    ""},
}};
// clang-format on

static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].type != kElementTypes[i] || static_cast<std::size_t>(kElementTypes[i]) != i) {
      return false;
    }
  }
  return true;
}());

/// The range of the exponents of normal numbers, that of 1 being 0.
struct Exponents {
  explicit Exponents(const FloatFormat& format)
      : bias((1 << (format.exponent_bits - 1)) - 1), least(1 - bias) {}
  int bias, least;
};

std::uint64_t sign_bit(const ElementTypeRow& row) {
  return std::uint64_t{1} << (row.bits - 1);
}

/// The bits of the largest number, without the unused ones.
std::uint64_t largest_bits(const FloatFormat& format) {
  const std::uint64_t all = (std::uint64_t{1} << (format.exponent_bits + format.fraction_bits)) - 1;
  return format.has_infinity ? (all >> format.fraction_bits << format.fraction_bits) - 1 : all - 1;
}

/// The bits of a magnitude that is a number, rounded; those of infinity or NaN when it is too
/// large.
std::uint64_t magnitude_bits(const FloatFormat& format, double magnitude) {
  const Exponents exponents(format);
  const std::uint64_t beyond = largest_bits(format) + 1;
  if (std::isinf(magnitude)) return beyond;
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), exponents.least);
  // Whole, at most 2^(fraction bits + 1): scaling by a power of two is exact.
  const auto units = static_cast<std::uint64_t>(
      std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));
  const auto above = static_cast<std::uint64_t>(exponent - exponents.least);
  return std::min(units + (above << format.fraction_bits), beyond);
}

double magnitude_of_bits(const FloatFormat& format, std::uint64_t bits) {
  if (bits > largest_bits(format)) {
    return format.has_infinity && bits == largest_bits(format) + 1
               ? std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  const Exponents exponents(format);
  const std::uint64_t hidden = std::uint64_t{1} << format.fraction_bits;
  const int field = static_cast<int>(bits >> format.fraction_bits);
  const std::uint64_t fraction = bits & (hidden - 1);
  const int exponent = std::max(field, 1) - exponents.bias - format.fraction_bits;
  return std::ldexp(static_cast<double>(field == 0 ? fraction : fraction + hidden), exponent);
}

template <class T>
Scalar scalar_as(double real, std::int64_t whole) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(real);
  } else {
    return static_cast<T>(whole);
  }
}

/// A number as a scalar of the type, by the C++ type of such a kind and size.
Scalar scalar_of(const ElementTypeRow& row, double real, std::int64_t whole) {
  const auto of_size = [&]<class Of64, class Of32, class Of16, class Of8>(Of64, Of32, Of16, Of8) {
    return row.bits == 64   ? scalar_as<Of64>(real, whole)
           : row.bits == 32 ? scalar_as<Of32>(real, whole)
           : row.bits == 16 ? scalar_as<Of16>(real, whole)
                            : scalar_as<Of8>(real, whole);
  };
  if (row.kind == kFloating) {
    return row.bits == 64 ? Scalar(real) : Scalar(static_cast<float>(real));
  }
  return row.kind == kSigned
             ? of_size(std::int64_t{}, std::int32_t{}, std::int16_t{}, std::int8_t{})
             : of_size(std::uint64_t{}, std::uint32_t{}, std::uint16_t{}, std::uint8_t{});
}

}  // namespace

const ElementTypeRow& row(ElementType type) {
  return kRows.at(static_cast<std::size_t>(type));
}

int bits(ElementType type) {
  return row(type).bits;
}

std::size_t bytes_of(ElementType type, std::int64_t count) {
  const auto all = static_cast<std::size_t>(count) * static_cast<std::size_t>(bits(type));
  return (all + kByteBits - 1) / kByteBits;
}

std::size_t element_bytes(ElementType type) {
  return element_bytes(row(type));
}

std::size_t element_bytes(const ElementTypeRow& row) {
  const auto its_bits = static_cast<std::size_t>(row.bits);
  if (its_bits % kByteBits == 0) return its_bits / kByteBits;
  throw Error(ErrorCode::usage,
              fmt::format("elements of type '{}' have {} bits: they share bytes, which this use of "
                          "them does not support",
                          row.name, row.bits));
}

std::size_t elements_in(ElementType type, std::size_t bytes) {
  return bytes * kByteBits / static_cast<std::size_t>(bits(type));
}

std::string_view name(ElementType type) {
  return row(type).name;
}

std::optional<ElementType> element_type_from_name(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto* const found = std::ranges::find_if(kRows, [&](const ElementTypeRow& row) {
    return text == row.name || text == row.short_name || text == row.alias;
  });
  return found == kRows.end() ? std::nullopt : std::optional(found->type);
}

bool is_floating(ElementType type) {
  return row(type).kind == kFloating;
}

double unit_roundoff(ElementType type) {
  return is_floating(type) ? std::ldexp(0.5, -row(type).format.fraction_bits) : 0;
}

double largest_exact_integer(ElementType type) {
  if (is_floating(type)) return 1 / unit_roundoff(type);
  const int value_bits = bits(type) - (row(type).kind == kSigned ? 1 : 0);
  return std::ldexp(1.0, value_bits) - 1;
}

double largest_number(ElementType type) {
  return is_floating(type) ? magnitude_of_bits(row(type).format, largest_bits(row(type).format))
                           : largest_exact_integer(type);
}

double smallest_number(ElementType type) {
  return is_floating(type) ? magnitude_of_bits(row(type).format, 1) : 1;
}

ElementType accumulator(ElementType type) {
  if (is_floating(type)) return bits(type) == 64 ? type : ElementType::f32;
  return bits(type) == 64 ? type : ElementType::s32;
}

ElementType error_type(ElementType type) {
  return is_floating(type) && bits(type) < bits(ElementType::f32) ? ElementType::f32 : type;
}

IntegerRange integer_range(ElementType type) {
  constexpr IntegerRange kAll = {std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
  const ElementTypeRow& its = row(type);
  if (its.kind == kFloating) return kAll;
  if (its.bits == 64) return {its.kind == kSigned ? kAll.least : 0, kAll.greatest};
  const auto greatest = static_cast<std::int64_t>(largest_exact_integer(type));
  return {its.kind == kSigned ? -greatest - 1 : 0, greatest};
}

std::uint64_t bits_of(ElementType type, double value) {
  const ElementTypeRow& its = row(type);
  if (its.kind == kSigned) return std::bit_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  if (its.kind == kUnsigned) return static_cast<std::uint64_t>(value);
  const FloatFormat& format = its.format;
  const std::uint64_t sign = std::signbit(value) ? sign_bit(its) : 0;
  if (std::isnan(value)) return sign_bit(its) - 1;
  return sign | magnitude_bits(format, std::abs(value)) << format.unused_bits;
}

double number_of(ElementType type, std::uint64_t bits) {
  const ElementTypeRow& its = row(type);
  const int shift = 64 - its.bits;
  if (its.kind == kSigned) {
    return static_cast<double>(std::bit_cast<std::int64_t>(bits << shift) >> shift);
  }
  if (its.kind == kUnsigned) return static_cast<double>(bits << shift >> shift);
  const std::uint64_t magnitude = (bits & (sign_bit(its) - 1)) >> its.format.unused_bits;
  const double value = magnitude_of_bits(its.format, magnitude);
  return (bits & sign_bit(its)) != 0 ? -value : value;
}

std::uint64_t moved_bits(ElementType type, std::uint64_t bits, std::int64_t units) {
  const ElementTypeRow& its = row(type);
  const auto magnitude =
      static_cast<std::int64_t>((bits & (sign_bit(its) - 1)) >> its.format.unused_bits);
  const std::int64_t moved = magnitude + units;
  const auto largest = static_cast<std::int64_t>(largest_bits(its.format));
  if (magnitude == 0 || magnitude > largest || moved <= 0 || moved > largest) return bits;
  return (bits & sign_bit(its)) | static_cast<std::uint64_t>(moved) << its.format.unused_bits;
}

bool is_scalar_type(ElementType type) {
  return row(type).header.empty() && row(type).name == row(type).cpp_name;
}

Scalar make_scalar(ElementType type, std::int64_t value) {
  const auto [least, greatest] = integer_range(type);
  if (value < least || value > greatest) {
    throw Error(ErrorCode::usage,
                fmt::format("{} does not fit an argument of type '{}'", value, name(type)));
  }
  return scalar_of(row(type), static_cast<double>(value), value);
}

Scalar make_real_scalar(ElementType type, double value) {
  if (is_floating(type)) return scalar_of(row(type), value, 0);
  throw Error(ErrorCode::usage,
              fmt::format("{} has a fraction; an argument of type '{}' is a whole number", value,
                          name(type)));
}

}  // namespace tuner
