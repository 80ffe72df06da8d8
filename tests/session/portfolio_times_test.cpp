// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/portfolio_times.hpp"

#include "tests/session/toy.hpp"
#include "tuner/worker/evaluator.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// The toy family at five sizes; toy<3,2> is twice as fast as the default, toy<4,1> as slow.
class PortfolioTimesTest : public testing::Test {
 protected:
  PortfolioTimesTest() {
    plan_.sizes = {{10}, {20}, {40}, {80}, {160}};
    plan_.fewest = 1;
    for (const char* const text : {"", "TILE=3,DEPTH=2", "TILE=4,DEPTH=1"}) {
      plan_.candidates.push_back({.kernel = kernel_, .config = toy::config(family_, text)});
    }
    device_.behaviours["toy<3,2>"].time_ns = 500;
    device_.behaviours["toy<4,1>"].time_ns = 2000;
    device_.library_ns = 700;
  }

  PortfolioTimes run() {
    worker::Evaluator evaluator(device_, device_.compiler(), family_, 0);
    return time_portfolio(
        family_, plan_, evaluator, device_.compiler(), store_,
        [this](const PortfolioSizeTimed& it) { heard_.push_back(it); }, kNeverStop);
  }

  family::Family family_ = toy::family();
  const family::Kernel* kernel_ = &family_.kernels.front();
  toy::Device device_;
  store::Store store_ = store::Store::in_memory();
  PortfolioPlan plan_;
  std::vector<PortfolioSizeTimed> heard_;
};

TEST_F(PortfolioTimesTest, TimesCandidatesAndTheLibraryAndStoresTrials) {
  const PortfolioTimes times = run();
  EXPECT_THAT(times.sizes, SizeIs(5));
  EXPECT_THAT(times.matrix.times_ns[1], Each(std::optional(500.0)));
  EXPECT_THAT(times.matrix.library_ns, Each(std::optional(700.0)));
  EXPECT_THAT(times.matrix.weights, Each(1.0));
  EXPECT_EQ(heard_.back().best_ns, 500);
  ASSERT_THAT(store_.runs(), SizeIs(1));
  const store::RunRecord stored = store_.runs().front();
  EXPECT_EQ(stored.state, store::RunState::complete);
  EXPECT_THAT(store_.trials(stored.id), SizeIs(times.trials));
  EXPECT_THAT(store_.bests({}), IsEmpty()) << "without a final round nothing is the best";
}

TEST_F(PortfolioTimesTest, WhatTheDatabaseHasIsNotRepeated) {
  plan_.fewest = 3;
  const std::size_t first = run().trials;
  EXPECT_GT(first, 0U);
  const PortfolioTimes again = run();
  EXPECT_EQ(again.trials, 0U);
  EXPECT_THAT(again.matrix.times_ns[0], Each(std::optional(1000.0)));
  EXPECT_THAT(store_.runs(), SizeIs(1));
}

TEST_F(PortfolioTimesTest, ACandidateThatIsNowhereNearIsDroppedEarly) {
  const PortfolioTimes times = run();
  EXPECT_EQ(times.dropped, 2U);
  EXPECT_THAT(times.matrix.times_ns[2], ElementsAre(2000, 2000, 2000, std::nullopt, std::nullopt));
  plan_.fewest = 2;
  store_ = store::Store::in_memory();
  const PortfolioTimes two = run();
  EXPECT_EQ(two.dropped, 1U);
  EXPECT_THAT(two.matrix.times_ns[0], Each(std::optional(1000.0))) << "the less slow one stays";
}

TEST_F(PortfolioTimesTest, AKernelOfWhichNothingIsKnownIsSearched) {
  plan_.candidates.resize(1);  // the default
  plan_.unknown = {kernel_};
  const PortfolioTimes times = run();
  std::vector<std::string> found;
  for (const PortfolioCandidate& it : times.candidates) found.push_back(it.config_json());
  EXPECT_THAT(found, Contains(R"({"DEPTH":2,"TILE":3})"));
}

TEST_F(PortfolioTimesTest, AFailureHasNoTimeAndDoesNotEndIt) {
  device_.behaviours["toy<3,2>"].failure = Outcome::compile_error;
  const PortfolioTimes times = run();
  EXPECT_THAT(times.matrix.times_ns[1], Each(std::nullopt));
  EXPECT_THAT(times.matrix.times_ns[0], Each(std::optional(1000.0)));
  EXPECT_EQ(times.failures.at(Outcome::compile_error), 5U);
}

TEST_F(PortfolioTimesTest, EndsWhenItsTimeIsUpWithTheSizesThatAreFinished) {
  std::chrono::steady_clock::time_point now;
  plan_.now = [&] { return now; };
  device_.on_launch = [&](const std::string&) { now += std::chrono::milliseconds(1); };
  const PortfolioTimes all = run();
  ASSERT_THAT(all.sizes, SizeIs(5));
  const auto took = now.time_since_epoch();
  now = {};
  store_ = store::Store::in_memory();
  plan_.max_time = std::chrono::duration_cast<std::chrono::milliseconds>(took) / 8;
  const PortfolioTimes some = run();
  EXPECT_THAT(some.sizes, testing::AllOf(testing::Not(IsEmpty()), SizeIs(testing::Lt(5U))));
  for (const auto& times : some.matrix.times_ns) EXPECT_THAT(times, SizeIs(some.sizes.size()));
}

TEST(FarApart, BeginsInTheMiddleAndLeavesNeighboursForLast) {
  EXPECT_THAT(far_apart({{1}, {2}, {64}, {70}, {4096}}),
              ElementsAre(space::Size{64}, space::Size{4096}, space::Size{1}, space::Size{2},
                          space::Size{70}));
}

}  // namespace
}  // namespace tuner::session
