// SPDX-License-Identifier: Apache-2.0
// RunPlan::max_time, by a clock that only launches of candidates advance.
#include "tests/session/session_fixture.hpp"

#include <memory>
#include <string>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Of 180 configurations: more than there is time for.
family::Family large_family() {
  std::string values = "[1";
  for (int tile = 2; tile <= 60; ++tile) values += "," + std::to_string(tile);
  family::Family large = toy::family_with("[1, 2, 3, 4]", values + "]");
  auto definition = *large.kernels.front().space;
  definition.constraints.clear();
  large.kernels.front().space = std::make_shared<const space::SpaceDefinition>(definition);
  return large;
}

class TimeLimitTest : public SessionTest {
 protected:
  TimeLimitTest() {
    family = large_family();
    device.on_launch = [this](const std::string&) { clock.advance(1ms); };
  }

  static std::vector<space::Size> sizes(std::int64_t count) {
    std::vector<space::Size> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back({10 + i});
    return all;
  }
  [[nodiscard]] std::chrono::duration<double> now() const {
    return clock.now()().time_since_epoch();
  }
};

TEST_F(TimeLimitTest, FinalRoundsAreWithinIt) {
  for (const std::int64_t count : {6, 12}) {
    const auto begin = now();
    const RunResult result =
        run({.sizes = sizes(count), .max_time = 20s, .resume = Resume::no, .now = clock.now()});
    EXPECT_LE(now() - begin, 22s) << count;
    EXPECT_GE(now() - begin, 15s) << count;
    EXPECT_EQ(result.state, store::RunState::budget_spent);
    EXPECT_THAT(result.sizes, Each(Field(&SizeResult::finalists, Not(IsEmpty())))) << count;
  }
}

class SlowVerificationTest : public TimeLimitTest {
 protected:
  /// So long for each candidate, in the first of its launches, which verify it.
  void verify_for(std::chrono::milliseconds time) {
    device.on_launch = [this, time](const std::string& entry) {
      clock.advance(device.launches[entry] == 1 ? time : 1ms);
    };
  }
  RunResult run_at_one_size() {
    device.launches.clear();
    return run({.sizes = sizes(1),
                .max_time = 15s,
                .overrun = 5s,
                .resume = Resume::no,
                .now = clock.now()});
  }
};

TEST_F(SlowVerificationTest, LeavesTimeForTheFinalRound) {
  for (const auto time : {2s, 7s, 12s, 14s}) {
    verify_for(time);
    const auto begin = now();
    const RunResult result = run_at_one_size();
    EXPECT_LE(now() - begin, 25s) << time.count();
    EXPECT_THAT(result.sizes, Each(Field(&SizeResult::finalists, Not(IsEmpty())))) << time.count();
  }
}

TEST_F(SlowVerificationTest, IsNotInVainWhereOneTakesLongerThanAllOfTheTime) {
  verify_for(40s);
  const auto begin = now();
  const RunResult result = run_at_one_size();
  EXPECT_LE(now() - begin, 44s);
  EXPECT_THAT(result.sizes, Each(Field(&SizeResult::finalists, Not(IsEmpty()))));
  EXPECT_THAT(store.bests({}), SizeIs(1));
}

TEST_F(TimeLimitTest, FewerFinalistsAreTimedWhereItIsShort) {
  const RunResult result = run({.sizes = sizes(12), .max_time = 4s, .now = clock.now()});
  for (const SizeResult& size : result.sizes) {
    ASSERT_TRUE(size.best);
    EXPECT_FALSE(size.finalists.empty());
  }
  EXPECT_THAT(result.sizes, testing::Contains(Field(&SizeResult::left_out, testing::Gt(0U))));
  EXPECT_THAT(run({.sizes = sizes(2), .max_evaluations = 10, .now = clock.now()}).sizes,
              Each(Field(&SizeResult::left_out, 0U)));
}

TEST_F(TimeLimitTest, WithoutTimeForAFinalRoundTheBestIsBySearchTimes) {
  const RunResult result =
      run({.sizes = sizes(1), .max_time = 0ms, .overrun = 0ms, .now = clock.now()});
  ASSERT_THAT(result.sizes, SizeIs(1));
  EXPECT_FALSE(result.sizes.front().best) << "not even the first trial";
  const auto begin = now();
  const RunResult late =
      run({.sizes = sizes(1), .max_time = 0ms, .overrun = 30ms, .now = clock.now()});
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now() - begin);
  EXPECT_THAT(late.sizes, Each(Field(&SizeResult::finalists, Not(IsEmpty())))) << "the only result";
  const RunResult another = run({.sizes = sizes(2),
                                 .max_time = 0ms,
                                 .overrun = took + 10ms,
                                 .resume = Resume::no,
                                 .now = clock.now()});
  ASSERT_THAT(another.sizes, Each(Field(&SizeResult::best, testing::Optional(testing::_))));
  EXPECT_THAT(another.sizes, testing::Contains(Field(&SizeResult::finalists, IsEmpty())));
  EXPECT_THAT(store.bests({}), SizeIs(1)) << "screening times are no result";
}

TEST_F(TimeLimitTest, AFinalRoundOfFewConfigurationsNeedsNoTimeForMore) {
  const auto begin = now();
  static_cast<void>(run({.sizes = sizes(1),
                         .max_evaluations = 1,
                         .resume = Resume::no,
                         .final_rounds = FinalRounds::deferred,
                         .now = clock.now()}));
  const auto trial = std::chrono::duration_cast<std::chrono::milliseconds>(now() - begin);
  // Two trials, a final round that tells the cost of a contender, and time for three more.
  const RunResult result = run({.sizes = sizes(2),
                                .max_evaluations = 1,
                                .max_time = 0ms,
                                .overrun = 5 * trial,
                                .resume = Resume::no,
                                .now = clock.now()});
  EXPECT_THAT(result.sizes, Each(Field(&SizeResult::finalists, Not(IsEmpty()))));
}

TEST_F(TimeLimitTest, SizesThatWereNotReachedHaveNoResult) {
  const RunResult result =
      run({.sizes = sizes(30), .max_time = 100ms, .overrun = 100ms, .now = clock.now()});
  ASSERT_THAT(result.sizes, SizeIs(30));
  EXPECT_THAT(result.sizes, testing::Contains(Field(&SizeResult::evaluated, 0U)));
  EXPECT_THAT(result.sizes, testing::Contains(Field(&SizeResult::evaluated, testing::Gt(0U))));
}

TEST_F(TimeLimitTest, ImportantSizesComeFirst) {
  std::vector<double> importance(10, 1.0);
  importance[7] = 8;
  importance[2] = 2;
  static_cast<void>(run(
      {.sizes = sizes(10), .max_evaluations = 3, .importance = importance, .now = clock.now()}));
  EXPECT_EQ(seen.steps.at(0).progress.size, sizes(10)[7]);
  EXPECT_EQ(seen.steps.at(1).progress.size, sizes(10)[2]);
}

TEST_F(TimeLimitTest, DeferredFinalRoundsAreHeldByALaterRun) {
  const RunResult first = run({.sizes = sizes(2),
                               .max_evaluations = 10,
                               .final_rounds = FinalRounds::deferred,
                               .now = clock.now()});
  EXPECT_THAT(seen.finals, IsEmpty());
  EXPECT_THAT(first.sizes, Each(Field(&SizeResult::best, testing::Optional(testing::_))));
  EXPECT_THAT(store.bests({}), IsEmpty());
  static_cast<void>(run({.sizes = sizes(2), .max_evaluations = 10, .now = clock.now()}));
  EXPECT_EQ(seen.reused(), 20U);
  EXPECT_THAT(store.bests({}), SizeIs(2));
}

}  // namespace
}  // namespace tuner::session
