// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/nearness.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tuner::select {
namespace {

Nearness nearness(const space::Size& asked, const space::Size& size) {
  space::Dimensions dims({"M", "N"});
  if (asked.size() == 3) dims = {"M", "N", "K"};
  return tuner::select::nearness(asked, size, dims).value();
}

TEST(Nearness, IsTheLargestRatioOfADimension) {
  const Nearness it = nearness(space::Size{1024, 1024}, {2048, 256});
  EXPECT_DOUBLE_EQ(it.largest, std::log(4.0));
  EXPECT_DOUBLE_EQ(it.total, std::hypot(std::log(2.0), std::log(4.0)));
  EXPECT_EQ(nearness(space::Size{3, 5}, {3, 5}).largest, 0);
}

TEST(Nearness, TakesTwiceAndHalfForEquallyFarAndThenTheSmaller) {
  const space::Size asked = {1000, 1000};
  EXPECT_EQ(nearness(asked, {500, 1000}).largest, nearness(asked, {2000, 1000}).largest);
  EXPECT_LT(nearness(asked, {500, 1000}), nearness(asked, {2000, 1000}));
}

TEST(Nearness, ComparesAllDimensionsWhenTheLargestDifferenceIsTheSame) {
  const space::Size asked = {1024, 1024};
  EXPECT_LT(nearness(asked, {2048, 1024}), nearness(asked, {512, 512}));
}

TEST(Nearness, SeesTheShapeAndNotTheVolume) {
  const space::Size asked = {1024, 1024};
  EXPECT_LT(nearness(asked, {128, 128}), nearness(asked, {1048576, 1}));
  EXPECT_DOUBLE_EQ(nearness(asked, {1048576, 1}).largest, std::log(1024.0));
}

TEST(Nearness, DoesNotDependOnTheOrderOfTheDimensions) {
  const Nearness a = nearness(space::Size{100, 100, 100}, {130, 170, 110});
  const Nearness b = nearness(space::Size{100, 100, 100}, {170, 110, 130});
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(a.largest, b.largest);
}

space::Dimensions with_kinds() {
  return space::parse_dimensions(
      parse_json(R"({"dims": ["N", {"name": "TRANS", "values": [0, 1], "default": 0},
                                                 {"name": "LD", "default": "N"}]})",
                 "test"),
      "test");
}

TEST(Nearness, IsNoneBetweenKinds) {
  EXPECT_EQ(tuner::select::nearness({64, 0, 64}, {64, 1, 64}, with_kinds()), std::nullopt);
  EXPECT_NE(tuner::select::nearness({64, 1, 64}, {32, 1, 32}, with_kinds()), std::nullopt);
}

TEST(Nearness, DoesNotCountADefaultTwice) {
  const auto it = tuner::select::nearness({64, 0, 64}, {32, 0, 32}, with_kinds());
  EXPECT_DOUBLE_EQ(it->largest, std::log(2.0));
  EXPECT_DOUBLE_EQ(it->total, std::log(2.0)) << "LD follows from N";
  EXPECT_DOUBLE_EQ(tuner::select::nearness({64, 0, 256}, {32, 0, 32}, with_kinds())->largest,
                   std::log(8.0))
      << "LD was named";
}

}  // namespace
}  // namespace tuner::select
