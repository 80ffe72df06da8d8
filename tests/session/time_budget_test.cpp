// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_budget.hpp"

#include "tests/session/session_fixture.hpp"

namespace tuner::session {
namespace {

using namespace std::chrono_literals;

TEST(TimeBudget, WhatARunLeavesGoesToThoseBehindIt) {
  ManualClock clock;
  const TimeBudget command(100s, clock.now());
  EXPECT_EQ(command.part(0.25).left(), 25s);
  clock.advance(10s);
  EXPECT_EQ(command.left(), 90s);
  EXPECT_EQ(command.part(0.5).left(), 45s);
  const TimeBudget part = command.part(0.5);
  clock.advance(50s);
  EXPECT_EQ(part.left(), 0s) << "it is up";
  EXPECT_EQ(command.left(), 40s);
}

TEST(TimeBudget, GivesARunItsTimeAndItsPartOfTheOverrun) {
  ManualClock clock;
  RunPlan plan;
  TimeBudget(1000s, clock.now()).part(0.5).give_to(plan);
  EXPECT_EQ(plan.max_time, 500s);
  EXPECT_EQ(plan.overrun, 25s) << "of 5 %";
  TimeBudget(20s, clock.now()).give_to(plan);
  EXPECT_EQ(plan.overrun, 5s) << "half of 10 s";
}

TEST(TimeBudget, WithoutATotalLimitsNothing) {
  RunPlan plan;
  const TimeBudget unlimited(std::nullopt);
  EXPECT_FALSE(unlimited.is_limited());
  unlimited.part(0.1).give_to(plan);
  EXPECT_EQ(plan.max_time, std::nullopt);
}

}  // namespace
}  // namespace tuner::session
