// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/element_type.hpp"

#include "sample.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace tuner::family {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ElementType, NamesAreThoseOfCppAndRoundTrip) {
  EXPECT_EQ(name(ElementType::u32), "unsigned");
  EXPECT_EQ(name(ElementType::s64), "long long");
  EXPECT_EQ(name(ElementType::bf16), "__nv_bfloat16");
  for (const ElementType type : kElementTypes) {
    EXPECT_EQ(element_type_from_name(name(type)), type);
    EXPECT_EQ(element_type_from_name(row(type).short_name), type);
  }
  EXPECT_EQ(element_type_from_name("char"), ElementType::s8);
  EXPECT_EQ(element_type_from_name("half"), ElementType::f16);
  EXPECT_FALSE(element_type_from_name("float*"));
  EXPECT_FALSE(element_type_from_name(""));
}

TEST(ElementType, SizesAreThoseOfTheDevice) {
  EXPECT_EQ(element_bytes(ElementType::s32), sizeof(std::int32_t));
  EXPECT_EQ(element_bytes(ElementType::u32), sizeof(std::uint32_t));
  EXPECT_EQ(element_bytes(ElementType::s64), sizeof(std::int64_t));
  EXPECT_EQ(element_bytes(ElementType::f32), sizeof(float));
  EXPECT_EQ(element_bytes(ElementType::f64), sizeof(double));
  EXPECT_EQ(element_bytes(ElementType::u16), sizeof(std::uint16_t));
}

TEST(ElementType, ElementsFollowOneAnotherWithoutGaps) {
  EXPECT_EQ(bits(ElementType::e4m3), 8);
  EXPECT_EQ(bits(ElementType::f64), 64);
  for (const ElementType type : kElementTypes) {
    EXPECT_EQ(bytes_of(type, 0), 0);
    EXPECT_EQ(bytes_of(type, 3), 3 * element_bytes(type));
    EXPECT_EQ(elements_in(type, bytes_of(type, 7)), 7);
    EXPECT_EQ(elements_in(type, bytes_of(type, 7) - 1), 6);
  }
}

TEST(ElementType, AnElementThatSharesAByteHasNoBytesOfItsOwn) {
  ElementTypeRow half_byte = row(ElementType::u8);
  EXPECT_EQ(element_bytes(half_byte), 1);
  half_byte.bits = 4;
  EXPECT_THAT([&] { static_cast<void>(element_bytes(half_byte)); },
              ThrowsMessage<Error>(HasSubstr("have 4 bits: they share bytes")));
}

TEST(ElementType, UnitRoundoffIsHalfTheDistanceToTheNextNumberAfterOne) {
  EXPECT_EQ(unit_roundoff(ElementType::f32), std::ldexp(1.0, -24));
  EXPECT_EQ(unit_roundoff(ElementType::f64), std::ldexp(1.0, -53));
  EXPECT_EQ(unit_roundoff(ElementType::tf32), std::ldexp(1.0, -11));
  EXPECT_EQ(unit_roundoff(ElementType::bf16), std::ldexp(1.0, -8));
  EXPECT_EQ(unit_roundoff(ElementType::f16), std::ldexp(1.0, -11));
  EXPECT_EQ(unit_roundoff(ElementType::e4m3), std::ldexp(1.0, -4));
  EXPECT_EQ(unit_roundoff(ElementType::s32), 0.0);
  EXPECT_EQ(unit_roundoff(ElementType::s64), 0.0);
}

TEST(MakeScalar, HoldsTheTypeAskedFor) {
  EXPECT_EQ(make_scalar(ElementType::s32, -7), Scalar(std::int32_t{-7}));
  EXPECT_EQ(make_scalar(ElementType::u32, 4'294'967'295), Scalar(std::uint32_t{4'294'967'295}));
  EXPECT_EQ(make_scalar(ElementType::s64, std::int64_t{1} << 40), Scalar(std::int64_t{1} << 40));
  EXPECT_EQ(make_scalar(ElementType::f32, 3), Scalar(3.0F));
  EXPECT_EQ(make_scalar(ElementType::f64, -2), Scalar(-2.0));
}

TEST(MakeScalar, RefusesWhatAnIntegerTypeCannotHold) {
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::s32, 2'147'483'648); }),
            "2147483648 does not fit an argument of type 'int'");
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::u32, -1); }),
            "-1 does not fit an argument of type 'unsigned'");
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::s8, 128); }),
            "128 does not fit an argument of type 'signed char'");
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::u64, -1); }),
            "-1 does not fit an argument of type 'unsigned long long'");
}

TEST(MakeRealScalar, FractionsAreOfFloatAndDouble) {
  EXPECT_EQ(make_real_scalar(ElementType::f32, 0.5), Scalar(0.5F));
  EXPECT_EQ(make_real_scalar(ElementType::f64, 1e-5), Scalar(1e-5));
  EXPECT_EQ(sample::usage_error([] { return make_real_scalar(ElementType::s32, 0.5); }),
            "0.5 has a fraction; an argument of type 'int' is a whole number");
}

TEST(ElementType, HasTheNumbersOfItsFormat) {
  EXPECT_EQ(largest_number(ElementType::f64), std::numeric_limits<double>::max());
  EXPECT_EQ(largest_number(ElementType::f32), double{std::numeric_limits<float>::max()});
  EXPECT_EQ(largest_number(ElementType::f16), 65504);
  EXPECT_EQ(largest_number(ElementType::bf16), 0x1.FEp127);
  EXPECT_EQ(largest_number(ElementType::e4m3), 448);
  EXPECT_EQ(largest_number(ElementType::e5m2), 57344);
  EXPECT_EQ(largest_number(ElementType::u8), 255);
  EXPECT_EQ(smallest_number(ElementType::f32), double{std::numeric_limits<float>::denorm_min()});
  EXPECT_EQ(smallest_number(ElementType::f16), 0x1p-24);
  EXPECT_EQ(smallest_number(ElementType::bf16), 0x1p-133);
  EXPECT_EQ(largest_exact_integer(ElementType::bf16), 256);
  EXPECT_EQ(largest_exact_integer(ElementType::f16), 2048);
  EXPECT_EQ(largest_exact_integer(ElementType::e4m3), 16);
  EXPECT_EQ(largest_exact_integer(ElementType::s32), 2147483647);
}

TEST(ElementType, HoldsEveryWholeNumberUpToTheLargestExactOneAndNotTheNext) {
  for (const ElementType type : {ElementType::tf32, ElementType::bf16, ElementType::f16,
                                 ElementType::e4m3, ElementType::e5m2}) {
    const auto most = static_cast<int>(largest_exact_integer(type));
    const auto held = [&](int value) { return number_of(type, bits_of(type, value)); };
    for (int value = -most; value <= most; ++value) EXPECT_EQ(held(value), value) << name(type);
    EXPECT_NE(held(most + 1), most + 1) << name(type);
  }
}

TEST(ElementType, RoundsToTheNearestNumberTiesToEven) {
  const auto rounded = [](ElementType type, double value) {
    return number_of(type, bits_of(type, value));
  };
  EXPECT_EQ(rounded(ElementType::bf16, 257), 256) << "a tie: the even one";
  EXPECT_EQ(rounded(ElementType::bf16, 259), 260);
  EXPECT_EQ(rounded(ElementType::bf16, 257.0000001), 258) << "not by way of float";
  EXPECT_EQ(rounded(ElementType::f16, -2049), -2048);
  EXPECT_EQ(rounded(ElementType::f16, 65519), 65504);
  EXPECT_EQ(rounded(ElementType::f16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(rounded(ElementType::e4m3, 465))) << "which has no infinity";
  EXPECT_EQ(rounded(ElementType::e4m3, 464), 448);
  EXPECT_EQ(rounded(ElementType::f16, 0x1p-25), 0);
  EXPECT_EQ(rounded(ElementType::f16, 0x1.8p-25), 0x1p-24);
  EXPECT_TRUE(std::isnan(rounded(ElementType::bf16, std::nan(""))));
  EXPECT_TRUE(std::signbit(rounded(ElementType::bf16, -0.0)));
  EXPECT_EQ(rounded(ElementType::s8, -7), -7);
}

/// Every number that 32 random bits and the neighbours of ties can be.
std::vector<float> floats_to_round() {
  std::vector<float> floats;
  std::uint32_t bits = 1;
  for (int i = 0; i < 200'000; ++i) {
    bits = bits * 1664525 + 1013904223;
    for (const std::uint32_t low : {0U, 0x1000U, 0x8000U, 0x8001U, 0x7FFFU, 0xFFFFFFFFU}) {
      floats.push_back(
          std::bit_cast<float>(low == 0xFFFFFFFFU ? bits : (bits & 0xFFFF0000U) | low));
    }
  }
  return floats;
}

/// Independent arithmetic: of the two numbers of the type around a value the nearer one, from the
/// sorted list of all.
double nearest(const std::vector<double>& numbers, ElementType type, double value) {
  const double magnitude = std::abs(value);
  const auto above = std::ranges::lower_bound(numbers, magnitude);
  const double largest = numbers.back();
  const double step = largest - numbers[numbers.size() - 2];
  double result = 0;
  if (above == numbers.end()) {
    // The place after the largest, were it a number, is an even one where there is infinity.
    const double beyond = row(type).format.has_infinity ? std::numeric_limits<double>::infinity()
                                                        : std::numeric_limits<double>::quiet_NaN();
    const bool tie_goes_down = !row(type).format.has_infinity;
    const double half = largest + step / 2;
    result = magnitude < half || (tie_goes_down && magnitude == half) ? largest : beyond;
  } else if (*above == magnitude || above == numbers.begin()) {
    result = *above;
  } else {
    const double up = *above - magnitude, down = magnitude - *std::prev(above);
    const bool even_above = (above - numbers.begin()) % 2 == 0;
    result = up < down || (up == down && even_above) ? *above : *std::prev(above);
  }
  return std::copysign(result, value);
}

TEST(ElementType, RoundsAsTheListOfAllItsNumbersSays) {
  const std::vector<float> floats = floats_to_round();
  for (const ElementType type :
       {ElementType::bf16, ElementType::f16, ElementType::e4m3, ElementType::e5m2}) {
    std::vector<double> numbers;
    const std::uint64_t sign = std::uint64_t{1} << (bits(type) - 1);
    for (std::uint64_t bits = 0; bits < sign; ++bits) {
      const double number = number_of(type, bits);
      if (!std::isfinite(number)) continue;
      ASSERT_TRUE(numbers.empty() || numbers.back() < number) << name(type) << ' ' << bits;
      numbers.push_back(number);
      ASSERT_EQ(bits_of(type, number), bits) << name(type);
      ASSERT_EQ(bits_of(type, -number), bits | sign) << name(type);
    }
    EXPECT_EQ(numbers.back(), largest_number(type));
    for (const float value : floats) {
      if (std::isnan(value)) continue;
      const double expected = nearest(numbers, type, double{value});
      const double got = number_of(type, bits_of(type, double{value}));
      ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
          << name(type) << ' ' << value << ": " << got << ", not " << expected;
    }
  }
}

TEST(ElementType, MovesByUnitsInTheLastPlace) {
  const auto moved = [](ElementType type, double value, std::int64_t units) {
    return number_of(type, moved_bits(type, bits_of(type, value), units));
  };
  EXPECT_EQ(moved(ElementType::f32, 1, 1), 1 + 0x1p-23);
  EXPECT_EQ(moved(ElementType::bf16, -1, 2), -1 - 0x1p-6);
  EXPECT_EQ(moved(ElementType::tf32, 1, -1), 1 - 0x1p-11);
  EXPECT_EQ(moved(ElementType::f16, 65504, 1), 65504) << "infinity is next";
  EXPECT_EQ(moved(ElementType::f16, 0, 3), 0);
  EXPECT_EQ(moved(ElementType::f16, 0x1p-24, -1), 0x1p-24) << "0 is next";
}

}  // namespace
}  // namespace tuner::family
