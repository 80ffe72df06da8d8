// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sizes.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const space::Dimensions kDims = {"M", "N"};

TEST(SizeRange, GoesInStridesOrFactorsUpToItsEnd) {
  EXPECT_THAT(size_range("64:200:64", kDims),
              ElementsAre(space::Size{64, 64}, space::Size{128, 128}, space::Size{192, 192}));
  EXPECT_THAT(size_range("1:9:x3", kDims),
              ElementsAre(space::Size{1, 1}, space::Size{3, 3}, space::Size{9, 9}));
  EXPECT_THAT(size_range("7:7:1", kDims), ElementsAre(space::Size{7, 7}));
}

TEST(SizeRange, SaysWhatIsWrongWithIt) {
  const auto says = [](std::string_view text) -> std::string {
    try {
      static_cast<void>(size_range(text, kDims));
      return "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(says("64"), HasSubstr("--range 64: a range has three parts"));
  EXPECT_THAT(says("64:128"), HasSubstr("three parts"));
  EXPECT_THAT(says("64:x:2"), HasSubstr("whole numbers above 0"));
  EXPECT_THAT(says("0:64:2"), HasSubstr("whole numbers above 0"));
  EXPECT_THAT(says("128:64:x2"), HasSubstr("its start is above its end"));
  EXPECT_THAT(says("1:64:x1"), HasSubstr("a factor is at least 2"));
  EXPECT_THAT(says("1:1001:1"), HasSubstr("more than 1000 sizes"));
  EXPECT_THAT(says("1:64:2:3"), HasSubstr("whole numbers above 0"));
}

}  // namespace
}  // namespace tuner::cli
