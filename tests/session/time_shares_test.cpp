// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_shares.hpp"

#include <gtest/gtest.h>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;

/// The time of sizes that are all open.
TimeShares open_shares(std::optional<std::chrono::milliseconds> total, std::size_t sizes) {
  TimeShares shares(total, std::vector(sizes, 1.0), [] { return 0.0; });
  for (std::size_t size = 0; size < sizes; ++size) shares.open(size);
  return shares;
}

TEST(TimeShares, WithoutATotalNothingIsEverUsedUp) {
  TimeShares shares = open_shares(std::nullopt, 2);
  shares.charge(0, 1000s);
  EXPECT_EQ(shares.spent(0), std::nullopt);
  EXPECT_FALSE(shares.used_up(0));
}

TEST(TimeShares, EachSizeHasAnEqualShareWhateverTheOthersDo) {
  TimeShares shares = open_shares(40s, 4);
  shares.charge(0, 5s);
  EXPECT_DOUBLE_EQ(*shares.spent(0), 0.5);
  EXPECT_DOUBLE_EQ(*shares.spent(1), 0);
  shares.charge(0, 6s);
  EXPECT_TRUE(shares.used_up(0));
  EXPECT_DOUBLE_EQ(*shares.spent(0), 1) << "no more than all of it";
  EXPECT_FALSE(shares.used_up(1));
}

TEST(TimeShares, WhatASizeLeavesGoesToTheOthersAndWhatItOverdrewIsTheirs) {
  TimeShares shares = open_shares(40s, 4);
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
  TimeShares shares = open_shares(40s, 2);
  shares.charge_all(20s);
  shares.charge(0, 5s);
  EXPECT_DOUBLE_EQ(*shares.spent(0), 0.5);
}

TEST(TimeShares, TheLastSizeHasAsMuchAsTheFirstWhereHalfOfTheTimeServesAll) {
  double yet_to_open = 4;
  TimeShares shares(80s, std::vector(4, 1.0), [&] { return yet_to_open; });
  shares.charge_all(8s);  // until the first candidate was compiled
  for (std::size_t size = 0; size < 4; ++size) {
    shares.open(size);
    --yet_to_open;
    double own_s = 0;
    for (; !shares.used_up(size); own_s += 0.1) {
      shares.charge(size, 100ms);
      shares.charge_all(100ms);
    }
    shares.close(size);
    EXPECT_NEAR(own_s, 9, 2) << size;
  }
}

TEST(TimeShares, NoTimeIsUsedUpAtOnce) {
  EXPECT_TRUE(open_shares(0s, 1).used_up(0));
}

TEST(TimeShares, SizesYetToBeOpenedHaveTheirPartOfTheRest) {
  double yet_to_open = 3;
  TimeShares shares(40s, std::vector(8, 1.0), [&] { return yet_to_open; });
  shares.open(5);
  shares.charge(5, 5s);
  EXPECT_DOUBLE_EQ(*shares.spent(5), 0.5);
  yet_to_open = 0.25;
  EXPECT_DOUBLE_EQ(*shares.spent(5), 5 / 32.0) << "other cards took the rest";
}

TEST(TimeShares, AreInProportionToTheWeights) {
  TimeShares shares(40s, {3, 1}, [] { return 4.0; });
  shares.open(0);
  shares.open(1);
  shares.charge(0, 3s);
  shares.charge(1, 1s);
  EXPECT_DOUBLE_EQ(*shares.spent(0), 3 / 15.0);
  EXPECT_DOUBLE_EQ(*shares.spent(1), 1 / 5.0);
}

TEST(TimeShares, WhatIsReservedIsNobodys) {
  TimeShares shares = open_shares(40s, 2);
  shares.reserve(30s);
  shares.charge(0, 5s);
  EXPECT_TRUE(shares.used_up(0));
  shares.reserve(20s);
  EXPECT_DOUBLE_EQ(*shares.spent(0), 0.5) << "the reserve was too large";
}

}  // namespace
}  // namespace tuner::session
