// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/drawn_sizes.hpp"

#include <gmock/gmock.h>

namespace tuner::select {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;
using testing::ResultOf;
using testing::SizeIs;

std::int64_t first(const space::Size& size) {
  return size[0];
}
std::int64_t second(const space::Size& size) {
  return size[1];
}

const space::Dimensions kDims(
    {{.name = "M"},
     {.name = "K"},
     {.name = "LDA", .default_value = space::Expression::constant(7)},
     {.name = "TRANS", .default_value = space::Expression::constant(0), .values = {0, 1}}},
    {});

TEST(DrawnSizes, LieBetweenTheGivenOnesInTheirMultiples) {
  const std::vector<space::Size> given = {{1, 1024, 9, 1}, {64, 8192, 9, 1}};
  const auto sizes = drawn_sizes(kDims, given, 300);
  ASSERT_THAT(sizes, SizeIs(300));
  EXPECT_THAT(sizes, Each(ResultOf(first, AllOf(Ge(1), Le(64)))));
  EXPECT_THAT(sizes, Each(ResultOf(second, AllOf(Ge(1024), Le(8192)))));
  EXPECT_THAT(sizes, Each(ResultOf([](const auto& it) { return it[1] % 64; }, 0)));
  EXPECT_THAT(sizes, Contains(ResultOf(first, 3))) << "a number that no given size has";
  EXPECT_THAT(sizes, Contains(ResultOf(second, Le(1280))));
  EXPECT_THAT(sizes, Contains(ResultOf(second, Ge(6400))));
}

TEST(DrawnSizes, HaveTheKindOfAGivenSizeAndDefaults) {
  const std::vector<space::Size> given = {{8, 64, 9, 1}};
  EXPECT_THAT(drawn_sizes(kDims, given, 2),
              ElementsAre(space::Size{8, 64, 7, 1}, space::Size{8, 64, 7, 1}));
}

TEST(DrawnSizes, AreTheSameAtEveryCall) {
  const std::vector<space::Size> given = {{1, 64, 7, 0}, {4096, 4096, 7, 1}};
  EXPECT_EQ(drawn_sizes(kDims, given, 50), drawn_sizes(kDims, given, 50));
}

}  // namespace
}  // namespace tuner::select
