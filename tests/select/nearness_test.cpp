// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/nearness.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace tuner {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(CanonicalSize, ReadsBack) {
  EXPECT_EQ(canonical_size(Numbers{4096, 1, 64}), "4096,1,64");
  EXPECT_EQ(numbers_of("4096,1,64"), (Numbers{4096, 1, 64}));
  EXPECT_EQ(numbers_of("7"), Numbers{7});
  for (const char* bad :
       {"", "x", "1,", ",1", "1,,2", "1x2", "0", "-1", "1 ,2", "99999999999999999999"}) {
    EXPECT_EQ(numbers_of(bad), std::nullopt) << bad;
  }
}

TEST(Nearness, IsTheLargestRatioOfADimension) {
  const Nearness it = nearness(Numbers{1024, 1024}, {2048, 256});
  EXPECT_DOUBLE_EQ(it.largest, std::log(4.0));
  EXPECT_DOUBLE_EQ(it.total, std::hypot(std::log(2.0), std::log(4.0)));
  EXPECT_EQ(nearness(Numbers{3, 5}, {3, 5}).largest, 0);
}

TEST(Nearness, TakesTwiceAndHalfForEquallyFarAndThenTheSmaller) {
  const Numbers asked = {1000, 1000};
  EXPECT_EQ(nearness(asked, {500, 1000}).largest, nearness(asked, {2000, 1000}).largest);
  EXPECT_LT(nearness(asked, {500, 1000}), nearness(asked, {2000, 1000}));
}

TEST(Nearness, ComparesAllDimensionsWhenTheLargestDifferenceIsTheSame) {
  const Numbers asked = {1024, 1024};
  EXPECT_LT(nearness(asked, {2048, 1024}), nearness(asked, {512, 512}));
}

TEST(Nearness, SeesTheShapeAndNotTheVolume) {
  const Numbers asked = {1024, 1024};
  EXPECT_LT(nearness(asked, {128, 128}), nearness(asked, {1048576, 1}));
  EXPECT_DOUBLE_EQ(nearness(asked, {1048576, 1}).largest, std::log(1024.0));
}

TEST(Nearness, DoesNotDependOnTheOrderOfTheDimensions) {
  const Nearness a = nearness(Numbers{100, 100, 100}, {130, 170, 110});
  const Nearness b = nearness(Numbers{100, 100, 100}, {170, 110, 130});
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(a.largest, b.largest);
}

}  // namespace
}  // namespace tuner
