// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/rounds.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace tuner::measure {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

const auto kNeverStop = [] { return false; };

/// Rounds in which contender i gives `sample(i)`.
template <class SampleOf>
Round rounds_of(SampleOf sample) {
  return [sample](std::span<const std::size_t> order) mutable {
    std::vector<backend::Sample> samples;
    for (const std::size_t contender : order) samples.push_back(sample(contender));
    return Expected<std::vector<backend::Sample>, Failure>(samples);
  };
}

TEST(TimeRounds, GivesEachContenderItsOwnTimesWhateverTheOrder) {
  const Round round = rounds_of([](std::size_t contender) {
    return backend::Sample{.time_ns = 100.0 * static_cast<double>(contender + 1)};
  });
  const auto final = time_rounds(3, round, {.rounds = 10, .seed = 3}, kNeverStop);
  ASSERT_TRUE(final);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(final->times_ns[i], std::vector<double>(10, 100.0 * static_cast<double>(i + 1)));
  }
  EXPECT_EQ(final->discarded_rounds, 0);
  EXPECT_THAT(final->clock_mhz, Each(std::nullopt));
}

TEST(TimeRounds, ShufflesTheOrderInEveryRound) {
  std::set<std::vector<std::size_t>> orders;
  const Round round = [&](std::span<const std::size_t> order) {
    orders.insert({order.begin(), order.end()});
    return Expected<std::vector<backend::Sample>, Failure>(
        std::vector<backend::Sample>(3, {.time_ns = 1}));
  };
  ASSERT_TRUE(time_rounds(3, round, {.rounds = 20, .seed = 5}, kNeverStop));
  EXPECT_GE(orders.size(), 4U);
}

TEST(TimeRounds, EndsWhenTheRankingIsCertainAndNotBefore) {
  const Round calm = rounds_of([](std::size_t) { return backend::Sample{.time_ns = 100}; });
  EXPECT_THAT(time_rounds(2, calm, {}, kNeverStop)->times_ns, Each(SizeIs(30)));
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(100, 3);
  const Round noisy =
      rounds_of([&](std::size_t) { return backend::Sample{.time_ns = noise(random)}; });
  EXPECT_THAT(time_rounds(2, noisy, {}, kNeverStop)->times_ns, Each(SizeIs(100)));
}

TEST(TimeRounds, JudgesOnlyTheRankedAmongThemselves) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(1000, 30);
  // Beside a third that is far faster both are slower for certain, yet which of them is the faster
  // is not known.
  const Round open = rounds_of([&](std::size_t contender) {
    return backend::Sample{.time_ns = contender == 2 ? 500.0 : noise(random)};
  });
  EXPECT_THAT(time_rounds(3, open, {.ranked = 2}, kNeverStop)->times_ns, Each(SizeIs(100)));
  EXPECT_THAT(time_rounds(3, open, {}, kNeverStop)->times_ns, Each(SizeIs(30)))
      << "were the third ranked, the ranking would be certain";
  // What rides along may be as uncertain as it likes.
  const Round certain = rounds_of([&](std::size_t contender) {
    return backend::Sample{.time_ns = contender == 2 ? noise(random) : 1000.0};
  });
  EXPECT_THAT(time_rounds(3, certain, {.ranked = 2}, kNeverStop)->times_ns, Each(SizeIs(30)));
}

TEST(TimeRounds, GivesAnIntervalItsRoundsEvenWhenTimeIsUp) {
  const Round round = rounds_of([](std::size_t) { return backend::Sample{.time_ns = 1}; });
  const auto final = time_rounds(
      1, round, {.fewest_rounds = 6, .budget = std::chrono::milliseconds(0)}, kNeverStop);
  EXPECT_EQ(final->times_ns.front().size(), 6U);
}

TEST(TimeRounds, StopsBetweenRoundsSoThatAllHaveAsManySamples) {
  int asked = 0;
  const Round round = rounds_of([](std::size_t) { return backend::Sample{.time_ns = 1}; });
  const auto final = time_rounds(2, round, {}, [&] { return ++asked > 4; });
  EXPECT_THAT(final->times_ns, Each(SizeIs(4)));
}

TEST(TimeRounds, LeavesOutRoundsInWhichAContenderWasThrottled) {
  // At the power limit the second runs at its own, lower clock: that alone is no throttling.
  int call = 0;
  const Round round = [&](std::span<const std::size_t> order) {
    const bool hot = ++call % 5 == 0;
    std::vector<backend::Sample> samples;
    for (const std::size_t contender : order) {
      const bool hit = hot && contender == 0;
      samples.push_back({.time_ns = hit ? 150.0 : 100.0,
                         .clock_mhz = (hit ? 0.7 : 1.0) * (contender == 0 ? 1980.0 : 1600.0)});
    }
    return Expected<std::vector<backend::Sample>, Failure>(samples);
  };
  const auto final = time_rounds(2, round, {}, kNeverStop);
  ASSERT_TRUE(final);
  EXPECT_EQ(final->discarded_rounds, 7) << "of 37, so that 30 count";
  EXPECT_EQ(final->times_ns[0], std::vector<double>(30, 100.0));
  EXPECT_EQ(final->times_ns[1].size(), 30U);
  EXPECT_THAT(final->clock_mhz, ElementsAre(1980.0, 1600.0));
}

TEST(TimeRounds, KeepsAllRoundsWhenTooFewWereSteady) {
  const Round round = [clock = 2000.0](std::span<const std::size_t> order) mutable {
    clock *= 0.9;
    return Expected<std::vector<backend::Sample>, Failure>(
        std::vector<backend::Sample>(order.size(), {.time_ns = 1, .clock_mhz = clock}));
  };
  const auto final = time_rounds(2, round, {.rounds = 8}, kNeverStop);
  EXPECT_THAT(final->times_ns, Each(SizeIs(8)));
  EXPECT_EQ(final->discarded_rounds, 0);
}

TEST(TimeRounds, FailsAsARoundDoes) {
  const Round round =
      [](std::span<const std::size_t>) -> Expected<std::vector<backend::Sample>, Failure> {
    return Unexpected(Failure{Outcome::crashed, "illegal address"});
  };
  const auto final = time_rounds(2, round, {}, kNeverStop);
  ASSERT_FALSE(final);
  EXPECT_EQ(final.error().outcome, Outcome::crashed);
}

/// Ratios of two processes: each is known well, and they differ.
const std::vector<double> kOther(30, 100), kTwoProcesses = [] {
  std::vector<double> times_ns(24, 104);
  times_ns.insert(times_ns.end(), 6, 99);
  return times_ns;
}();

TEST(Standing, HoldsTheMedianOfEachProcess) {
  const MedianInterval together = standing(kTwoProcesses, kOther);
  EXPECT_DOUBLE_EQ(together.low, 1.04);
  const MedianInterval interval = standing(kTwoProcesses, kOther, {24, 6});
  EXPECT_DOUBLE_EQ(interval.median, 1.04);
  EXPECT_DOUBLE_EQ(interval.low, 0.99);
  EXPECT_DOUBLE_EQ(interval.high, 1.04);
}

TEST(Standing, TakesNoBlocksBeyondItsRounds) {
  const std::span<const double> first = std::span(kTwoProcesses).first(24);
  EXPECT_DOUBLE_EQ(standing(first, kOther, {24, 6}).low, 1.04);
}

}  // namespace
}  // namespace tuner::measure
