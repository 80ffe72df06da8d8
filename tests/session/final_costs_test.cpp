// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final_costs.hpp"

#include <gtest/gtest.h>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;

TEST(FinalCosts, AreThoseOfTheFinalRoundsThatWereHeld) {
  FinalCosts costs;
  costs.add_timing(100s);
  costs.add_final(4, 2s);
  costs.add_final(6, 3s);
  EXPECT_DOUBLE_EQ(costs.expected(8).count(), 4);
  EXPECT_EQ(costs.most_contenders(4s), 8U);
  EXPECT_EQ(costs.most_contenders(-1s), 0U);
}

TEST(FinalCosts, AreAPartOfTimingACandidateForEachContenderBeforeTheFirst) {
  FinalCosts costs;
  costs.add_timing(1s);
  costs.add_timing(3s);
  EXPECT_FALSE(costs.has_final());
  EXPECT_GT(costs.expected(4), 0s);
  EXPECT_LT(costs.expected(1), 2s);
  EXPECT_DOUBLE_EQ(costs.expected(8).count(), 2 * costs.expected(4).count());
}

TEST(FinalCosts, NothingIsExpectedOfWhatNobodyHasSeen) {
  EXPECT_EQ(FinalCosts().expected(10), 0s);
  EXPECT_GT(FinalCosts().most_contenders(1s), 1000U);
}

}  // namespace
}  // namespace tuner::session
