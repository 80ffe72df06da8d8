// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/plan_rounds.hpp"

#include <gmock/gmock.h>

#include <random>

namespace tuner::dispatch {
namespace {

using testing::ElementsAre;

/// Rounds of plans with these times and noise of so many percent, until they are decided, at
/// most 40.
PlanRounds rounds_of(const std::vector<double>& times_ns, std::optional<std::size_t> library,
                     double noise_percent = 0, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(1, noise_percent / 100);
  PlanRounds rounds(times_ns.size(), library);
  while (rounds.count() < 40 && !(rounds.count() > 0 && rounds.is_decided())) {
    std::vector<double> round;
    for (const std::size_t plan : rounds.left()) round.push_back(times_ns[plan] * noise(random));
    rounds.add(round);
  }
  return rounds;
}

TEST(PlanRounds, AFarSlowerPlanLeavesAtOnceAndOneBehindByLittleLater) {
  PlanRounds rounds(3, {});
  rounds.add(std::vector<double>{100, 300, 110});
  EXPECT_THAT(rounds.left(), ElementsAre(0, 2));
  rounds.add(std::vector<double>{100, 110});
  EXPECT_THAT(rounds.left(), ElementsAre(0, 2));
  rounds.add(std::vector<double>{100, 110});
  EXPECT_THAT(rounds.left(), ElementsAre(0));
  EXPECT_TRUE(rounds.is_decided());
  EXPECT_THAT(rounds.order(), ElementsAre(0, 2, 1));
  EXPECT_EQ(rounds.time_ns(1), 300);
}

TEST(PlanRounds, OneBadRoundDropsNothing) {
  PlanRounds rounds(2, {});
  rounds.add(std::vector<double>{140, 100});  // say, another program's work
  for (int i = 0; i < 8; ++i) rounds.add(std::vector<double>{90, 100});
  EXPECT_THAT(rounds.left(), ElementsAre(0));
}

TEST(PlanRounds, TheLibraryIsTakenUnlessItIsCertainlySlower) {
  EXPECT_EQ(rounds_of({100, 103}, 1).order().front(), 0U);
  EXPECT_EQ(rounds_of({100, 100.5}, 1).order().front(), 1U) << "certain, but too little";
  EXPECT_EQ(rounds_of({100, 100.5}, {}).order().front(), 0U) << "it is no library";
  EXPECT_EQ(rounds_of({100, 90}, 1).order().front(), 1U);
}

TEST(PlanRounds, APlanAsFastAsTheLibraryIsSeldomTakenAndAFasterOneMostly) {
  int taken = 0, gained = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector equal(12, 100.0);
    taken += static_cast<int>(rounds_of(equal, 0, 2, seed).order().front() != 0);
    std::vector better = equal;
    better[7] = 96;
    gained += static_cast<int>(rounds_of(better, 0, 2, seed).order().front() == 7);
  }
  EXPECT_LT(taken, 40);
  EXPECT_GT(gained, 190);
}

TEST(PlanRounds, WhatDidNotRunIsInNoOrder) {
  PlanRounds rounds(3, {});
  rounds.remove(1);
  rounds.add(std::vector<double>{100, 90});
  EXPECT_THAT(rounds.order(), ElementsAre(2, 0));
  EXPECT_EQ(rounds.time_ns(1), std::nullopt);
  EXPECT_THAT(PlanRounds(0, {}).order(), ElementsAre());
}

}  // namespace
}  // namespace tuner::dispatch
