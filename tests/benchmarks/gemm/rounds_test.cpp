// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/rounds.hpp"

#include <gtest/gtest.h>

namespace tuner::gemm_benchmark {
namespace {

TEST(SeriesPlan, ShortLaunchesAreTimedInGraphsThatGoThroughAllSets) {
  EXPECT_EQ(plan_series(300e3, 5), (SeriesPlan{.launches = 1, .series = 5}));
  EXPECT_FALSE(plan_series(300e3, 5).is_graph());
  EXPECT_EQ(plan_series(10e3, 45), (SeriesPlan{.launches = 15, .series = 3}));
  EXPECT_EQ(plan_series(10, 1000), (SeriesPlan{.launches = 250, .series = 4}));
  EXPECT_EQ(plan_series(10e3, 3), (SeriesPlan{.launches = 18, .series = 1}));
  EXPECT_TRUE(plan_series(199e3, 2).is_graph());
}

TEST(KnownRatio, IsOneWithinHalfAPerCent) {
  EXPECT_TRUE(is_known({.median = 2, .low = 1.991, .high = 2.009}));
  EXPECT_FALSE(is_known({.median = 1, .low = 0.994, .high = 1.006}));
}

}  // namespace
}  // namespace tuner::gemm_benchmark
