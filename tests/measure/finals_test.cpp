// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/finals.hpp"

#include "tests/support/scripted_backend.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tuner {
namespace {

using testing_support::number_of;
using testing_support::ScriptedBackend;
using testing_support::work_number;

const auto kNeverStop = [] { return false; };

TEST(RunFinals, TimesEveryContenderOnceARound) {
  ScriptedBackend backend(
      [](const Work& work) { return 100.0 * static_cast<double>(number_of(work)); });
  const std::vector<Work> contenders = {work_number(1), work_number(2), work_number(3)};
  const auto samples = run_finals(backend, contenders, {.rounds = 10}, kNeverStop);
  ASSERT_TRUE(samples);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    EXPECT_EQ((*samples)[i], std::vector<double>(10, 100.0 * static_cast<double>(i + 1)));
  }
}

TEST(RunFinals, ShufflesTheOrderAnewInEveryRound) {
  std::vector<std::uint64_t> order;
  ScriptedBackend backend([&](const Work& work) {
    order.push_back(number_of(work));
    return 1.0;
  });
  const std::vector<Work> contenders = {work_number(1), work_number(2), work_number(3)};
  ASSERT_TRUE(run_finals(backend, contenders, {.rounds = 20, .seed = 5}, kNeverStop));
  std::set<std::vector<std::uint64_t>> orders;
  for (auto at = order.begin() + 3; at != order.end(); at += 3)
    orders.insert({at, at + 3});  // after the warm-up
  EXPECT_GE(orders.size(), 4U);
}

TEST(RunFinals, DriftFallsOnAllContendersAlike) {
  // The device slows down by a factor of three over the final; the two are equally fast.
  double clock = 1.0;
  ScriptedBackend backend([&](const Work&) { return 100.0 * (clock += 0.03); });
  const std::vector<Work> contenders = {work_number(1), work_number(2)};
  const auto samples = run_finals(backend, contenders, {.rounds = 30, .seed = 1}, kNeverStop);
  EXPECT_NEAR(standing((*samples)[0], (*samples)[1]).median, 1.0, 0.03);
}

TEST(RunFinals, GivesAnIntervalItsRoundsEvenWhenTimeIsUp) {
  ScriptedBackend backend([](const Work&) { return 1.0; });
  const std::vector<Work> contenders = {work_number(1)};
  const auto samples = run_finals(
      backend, contenders,
      {.rounds = 30, .fewest_rounds = 6, .budget = std::chrono::milliseconds(0)}, kNeverStop);
  EXPECT_EQ(samples->front().size(), 6U);
}

TEST(RunFinals, StopsBetweenRoundsSoThatAllHaveAsManySamples) {
  int asked = 0;
  ScriptedBackend backend([](const Work&) { return 1.0; });
  const std::vector<Work> contenders = {work_number(1), work_number(2)};
  const auto samples = run_finals(backend, contenders, {}, [&] { return ++asked > 4; });
  EXPECT_EQ((*samples)[0].size(), 4U);
  EXPECT_EQ((*samples)[1].size(), 4U);
}

TEST(Standing, ComparesRoundByRound) {
  // Medians alone would call these equal (both 3); in every round the first takes 1.5 × as long.
  const std::vector<double> first = {1.5, 3, 4.5, 6, 1.5, 3};
  const std::vector<double> second = {1, 2, 3, 4, 1, 2};
  const MedianInterval interval = standing(first, second);
  EXPECT_DOUBLE_EQ(interval.median, 1.5);
  EXPECT_DOUBLE_EQ(interval.low, 1.5);
  EXPECT_DOUBLE_EQ(interval.high, 1.5);
}

TEST(Standing, SpansAllThatWasSeenWhenRoundsAreFew) {
  const MedianInterval interval = standing(std::vector<double>{2, 3}, std::vector<double>{2, 2});
  EXPECT_DOUBLE_EQ(interval.low, 1.0);
  EXPECT_DOUBLE_EQ(interval.high, 1.5);
}

}  // namespace
}  // namespace tuner
