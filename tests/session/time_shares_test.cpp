// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_shares.hpp"

#include <gtest/gtest.h>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;

TEST(TimeShares, WithoutATotalNothingIsEverUsedUp) {
  TimeShares shares(std::nullopt, 2);
  shares.charge(0, 1000s);
  EXPECT_EQ(shares.spent(0), std::nullopt);
  EXPECT_FALSE(shares.used_up(0));
}

TEST(TimeShares, EachSizeHasAnEqualShareWhateverTheOthersDo) {
  TimeShares shares(40s, 4);
  shares.charge(0, 5s);
  EXPECT_DOUBLE_EQ(*shares.spent(0), 0.5);
  EXPECT_DOUBLE_EQ(*shares.spent(1), 0);
  shares.charge(0, 6s);
  EXPECT_TRUE(shares.used_up(0));
  EXPECT_DOUBLE_EQ(*shares.spent(0), 1) << "no more than all of it";
  EXPECT_FALSE(shares.used_up(1));
}

TEST(TimeShares, WhatASizeLeavesGoesToTheOthersAndWhatItOverdrewIsTheirs) {
  TimeShares shares(40s, 4);
  shares.charge(0, 4s);
  shares.close(0);
  shares.charge(1, 6s);
  EXPECT_DOUBLE_EQ(*shares.spent(1), 0.5) << "of 36 s for three";
  shares.charge(1, 10s);
  shares.close(1);
  shares.close(1);
  shares.charge(2, 5s);
  EXPECT_DOUBLE_EQ(*shares.spent(2), 0.5) << "of 20 s for two";
}

TEST(TimeShares, WhatServesAllIsPaidByAll) {
  TimeShares shares(40s, 2);
  shares.charge_all(20s);
  shares.charge(0, 5s);
  EXPECT_DOUBLE_EQ(*shares.spent(0), 0.5);
}

TEST(TimeShares, NoTimeIsUsedUpAtOnce) {
  EXPECT_TRUE(TimeShares(0s, 1).used_up(0));
}

}  // namespace
}  // namespace tuner::session
