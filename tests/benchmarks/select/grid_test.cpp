// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/random_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::SizeIs;

TEST(Grid, SpreadsOverShapesAndAlignments) {
  const std::vector<SuiteShape> all = read_suite(TUNER_SOURCE_DIR "/spaces/suites/grid.json");
  std::set<std::tuple<bool, bool, bool>> octants;
  std::set<std::tuple<std::int64_t, std::int64_t>> alignments;
  for (const auto& [group, shape] : all) {
    constexpr std::int64_t kMiddle = 362;
    octants.emplace(shape.m > kMiddle, shape.n > kMiddle, shape.k > kMiddle);
    alignments.emplace(std::gcd(shape.k, 4), std::gcd(shape.n, 4));
  }
  EXPECT_THAT(octants, SizeIs(8));
  EXPECT_THAT(alignments, SizeIs(9));
}

TEST(Grid, HasNoneOfTheRandomSizes) {
  const std::vector<SuiteShape> all = read_suite(TUNER_SOURCE_DIR "/spaces/suites/grid.json");
  for (const Shape& shape : random_shapes(200, 1)) {
    EXPECT_EQ(std::ranges::count(all, shape, &SuiteShape::shape), 0)
        << display(shape) << " would be tuned, not chosen for";
  }
}

}  // namespace
}  // namespace tuner::gemm_benchmark
