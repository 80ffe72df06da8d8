// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/clock_watch.hpp"

#include "tests/support/scripted_backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace tuner::measure {
namespace {

using testing_support::ScriptedBackend;
using testing_support::work_number;

backend::Sample at_mhz(double clock_mhz) {
  return {.time_ns = 1, .clock_mhz = clock_mhz};
}

TEST(ClockWatch, ASampleIsSteadyDownTo96PerCentOfTheBaseline) {
  const ClockWatch watch(2000);
  EXPECT_TRUE(watch.steady(at_mhz(1921)));
  EXPECT_FALSE(watch.steady(at_mhz(1919)));
  EXPECT_TRUE(watch.steady(at_mhz(2500)));
}

TEST(ClockWatch, WhatIsNotKnownIsSteady) {
  EXPECT_TRUE(ClockWatch{}.steady(at_mhz(1)));
  EXPECT_TRUE(ClockWatch(2000).steady(backend::Sample{.time_ns = 1}));
}

TEST(ClockWatch, RebasesOnTheMedianClock) {
  ClockWatch watch(2000);
  watch.rebase(std::vector{at_mhz(1500), at_mhz(1400), at_mhz(900)});
  EXPECT_EQ(watch.baseline_mhz(), 1400);
  watch.rebase(std::vector<backend::Sample>{{.time_ns = 1}});
  EXPECT_EQ(watch.baseline_mhz(), 1400) << "samples without a clock say nothing";
}

TEST(LearnClock, TakesTheMedianClockOfTheWarmDevice) {
  // Cold, the device has not yet reached the clock that it holds.
  ScriptedBackend backend([](const backend::Work&) { return 1.0; });
  int asked = 0;
  backend.clock = [&] { return ++asked == 1 ? 1200.0 : 1900.0 + asked % 3; };
  EXPECT_EQ(learn_clock(backend, work_number(1))->baseline_mhz(), 1901);
}

TEST(LearnClock, AfterOtherWorkRunsUntilTheClockHasSettled) {
  constexpr std::array kAfterSteps{1980.0, 1700.0, 1650.0, 1645.0, 1645.0};
  ScriptedBackend backend([](const backend::Work&) { return 1.0; });
  std::size_t samples = 0;  // one, whose clock does not count, then 20 after each step
  backend.clock = [&] {
    const std::size_t after_steps = std::max<std::size_t>(samples++, 1) - 1;
    return kAfterSteps.at(after_steps / 20);
  };
  EXPECT_EQ(learn_clock(backend, work_number(1), kWarmUpAfterOtherWork)->baseline_mhz(), 1645);
}

TEST(LearnClock, ADeviceWhoseClockDoesNotSettleIsReadAfterTheLongestWarmUp) {
  ScriptedBackend backend([](const backend::Work&) { return 1.0; });
  double mhz = 2000;
  backend.clock = [&] { return mhz -= 1; };
  const auto watch = learn_clock(backend, work_number(1), kWarmUpAfterOtherWork);
  EXPECT_NEAR(*watch->baseline_mhz(), 1908.5, 1) << "of the last 20 of 101 samples";
}

TEST(LearnClock, RunsADeviceWithoutAKnownClockNoLongerThanItMust) {
  ScriptedBackend backend([](const backend::Work&) { return 1.0; });
  EXPECT_EQ(learn_clock(backend, work_number(1))->baseline_mhz(), std::nullopt);
  EXPECT_EQ(backend.runs, 2);
}

TEST(LearnClock, PreparesEveryRun) {
  // What a kernel adds to a length would otherwise take the next one beyond its list.
  ScriptedBackend backend([](const backend::Work&) { return 1.0; });
  static_cast<void>(learn_clock(backend, work_number(1), {0, 0}, work_number(2)));
  EXPECT_EQ(backend.unprepared_timings, 0);
  static_cast<void>(learn_clock(backend, work_number(1)));
  EXPECT_EQ(backend.unprepared_timings, 1);
}

TEST(LearnClock, FailsAsTheDeviceDoes) {
  ScriptedBackend backend([](const backend::Work&) -> Expected<double, Failure> {
    return Unexpected(Failure{Outcome::crashed, "illegal address"});
  });
  const auto watch = learn_clock(backend, work_number(1));
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().outcome, Outcome::crashed);
}

}  // namespace
}  // namespace tuner::measure
