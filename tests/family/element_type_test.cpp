// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/element_type.hpp"

#include "sample.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tuner::family {
namespace {

TEST(ElementType, NamesAreThoseOfCppAndRoundTrip) {
  EXPECT_EQ(name(ElementType::u32), "unsigned");
  EXPECT_EQ(name(ElementType::i64), "long long");
  for (const ElementType type : kElementTypes) EXPECT_EQ(element_type_from_name(name(type)), type);
  EXPECT_EQ(element_type_from_name("char"), ElementType::i8);
  EXPECT_FALSE(element_type_from_name("half"));
  EXPECT_FALSE(element_type_from_name("float*"));
}

TEST(ElementType, SizesAreThoseOfTheDevice) {
  EXPECT_EQ(size_bytes(ElementType::i32), sizeof(std::int32_t));
  EXPECT_EQ(size_bytes(ElementType::u32), sizeof(std::uint32_t));
  EXPECT_EQ(size_bytes(ElementType::i64), sizeof(std::int64_t));
  EXPECT_EQ(size_bytes(ElementType::f32), sizeof(float));
  EXPECT_EQ(size_bytes(ElementType::f64), sizeof(double));
  EXPECT_EQ(size_bytes(ElementType::u16), sizeof(std::uint16_t));
}

TEST(ElementType, UnitRoundoffIsHalfTheDistanceToTheNextNumberAfterOne) {
  EXPECT_EQ(unit_roundoff(ElementType::f32), std::ldexp(1.0, -24));
  EXPECT_EQ(unit_roundoff(ElementType::f64), std::ldexp(1.0, -53));
  EXPECT_EQ(unit_roundoff(ElementType::i32), 0.0);
  EXPECT_EQ(unit_roundoff(ElementType::i64), 0.0);
}

TEST(MakeScalar, HoldsTheTypeAskedFor) {
  EXPECT_EQ(make_scalar(ElementType::i32, -7), Scalar(std::int32_t{-7}));
  EXPECT_EQ(make_scalar(ElementType::u32, 4'294'967'295), Scalar(std::uint32_t{4'294'967'295}));
  EXPECT_EQ(make_scalar(ElementType::i64, std::int64_t{1} << 40), Scalar(std::int64_t{1} << 40));
  EXPECT_EQ(make_scalar(ElementType::f32, 3), Scalar(3.0F));
  EXPECT_EQ(make_scalar(ElementType::f64, -2), Scalar(-2.0));
}

TEST(MakeScalar, RefusesWhatAnIntegerTypeCannotHold) {
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::i32, 2'147'483'648); }),
            "2147483648 does not fit an argument of type 'int'");
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::u32, -1); }),
            "-1 does not fit an argument of type 'unsigned'");
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::i8, 128); }),
            "128 does not fit an argument of type 'signed char'");
  EXPECT_EQ(sample::usage_error([] { return make_scalar(ElementType::u64, -1); }),
            "-1 does not fit an argument of type 'unsigned long long'");
}

TEST(MakeRealScalar, FractionsAreOfFloatAndDouble) {
  EXPECT_EQ(make_real_scalar(ElementType::f32, 0.5), Scalar(0.5F));
  EXPECT_EQ(make_real_scalar(ElementType::f64, 1e-5), Scalar(1e-5));
  EXPECT_EQ(sample::usage_error([] { return make_real_scalar(ElementType::i32, 0.5); }),
            "0.5 has a fraction; an argument of type 'int' is a whole number");
}

}  // namespace
}  // namespace tuner::family
