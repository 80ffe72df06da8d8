// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/random_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::SizeIs;

TEST(RandomShapes, AreTheSameForASeed) {
  const std::vector<Shape> all = random_shapes(200, 1);
  ASSERT_THAT(all, SizeIs(200));
  EXPECT_EQ(display(all[0]), "37x37x267");
  EXPECT_TRUE(std::ranges::equal(random_shapes(20, 1), std::span(all).first(20)));
  EXPECT_FALSE(random_shapes(20, 2) == random_shapes(20, 1));
}

TEST(RandomShapes, AreLogUniform) {
  const std::vector<Shape> all = random_shapes(1000, 1);
  for (const auto extent : {&Shape::m, &Shape::n, &Shape::k}) {
    // 16 … 8192 are 9 octaves: a third of the sizes in 3 of them, give or take 4 deviations of 15.
    const auto within = [&](std::int64_t low, std::int64_t high) {
      return std::ranges::count_if(
          all, [&](const Shape& it) { return low <= it.*extent && it.*extent < high; });
    };
    EXPECT_NEAR(static_cast<double>(within(16, 128)), 333, 60);
    EXPECT_NEAR(static_cast<double>(within(1024, 8193)), 333, 60);
    EXPECT_EQ(within(16, 8193), 1000);
  }
}

TEST(RandomSuite, HasTheTunedSizesInAGroupOfTheirOwn) {
  const std::vector<Shape> shapes = random_shapes(50, 3);
  const std::string suite = random_suite(shapes, 3);
  const std::vector<SuiteShape> regret = parse_suite(suite, "s.json", "regret");
  ASSERT_THAT(regret, SizeIs(20));
  EXPECT_EQ(regret.front().shape, shapes.front());
  EXPECT_THAT(parse_suite(suite, "s.json", ""), SizeIs(50));
  EXPECT_THAT(parse_suite(random_suite(std::span(shapes).first(5), 3), "s.json", ""), SizeIs(5));
}

}  // namespace
}  // namespace tuner::gemm_benchmark
