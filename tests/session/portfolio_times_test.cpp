// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/portfolio_times.hpp"

#include "tests/session/toy.hpp"
#include "tuner/worker/evaluator.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

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
        {.size_timed = [this](const PortfolioSizeTimed& it) { heard_.push_back(it); },
         .searched = [this](const PortfolioSearch& it) { searched_.push_back(it); }},
        kNeverStop);
  }

  family::Family family_ = toy::family();
  const family::Kernel* kernel_ = &family_.kernels.front();
  toy::Device device_;
  store::Store store_ = store::Store::in_memory();
  PortfolioPlan plan_;
  std::vector<PortfolioSizeTimed> heard_;
  std::vector<PortfolioSearch> searched_;
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

TEST_F(PortfolioTimesTest, TimesBackToBackCount) {
  device_.series_share_of = [](const backend::Work& work) {
    return std::holds_alternative<backend::LibraryCall>(work) ? 0.5 : 0.9;
  };
  const PortfolioTimes times = run();
  EXPECT_THAT(times.matrix.times_ns[1], Each(std::optional(450.0)));
  EXPECT_THAT(times.matrix.times_ns[2], Each(std::optional(2000.0)))
      << "so much slower that it is not timed so";
  EXPECT_THAT(times.matrix.library_ns, Each(std::optional(350.0)));
}

TEST_F(PortfolioTimesTest, WhileCodeIsCompiledCandidatesThatHaveTheirsAreTimed) {
  plan_.compile_threads = 3;
  std::promise<void> others_are_timed;
  std::vector<std::string> launched;  // in the order of their first launches
  device_.on_compile = [&](const std::string& entry) {
    if (entry == "toy<2,1>") others_are_timed.get_future().wait_for(std::chrono::minutes(1));
  };
  device_.on_launch = [&](const std::string& entry) {
    if (std::ranges::count(launched, entry) > 0) return;
    launched.push_back(entry);
    if (launched.size() == 2) others_are_timed.set_value();
  };
  EXPECT_THAT(run().matrix.times_ns[0], Each(std::optional(1000.0)));
  EXPECT_EQ(launched.back(), "toy<2,1>");
}

TEST_F(PortfolioTimesTest, WhatTheDatabaseHasIsNotRepeated) {
  const std::size_t first = run().trials;
  EXPECT_GT(first, 0U);
  const PortfolioTimes again = run();
  EXPECT_EQ(again.trials, 0U);
  EXPECT_THAT(again.matrix.times_ns[0], Each(std::optional(1000.0)));
  EXPECT_THAT(store_.runs(), SizeIs(1));
}

TEST_F(PortfolioTimesTest, ACandidateThatLosesNearbyIsNotTimed) {
  plan_.sizes = {{10}, {11}, {12}, {13}, {14}};
  for (const char* const text : {"TILE=1,DEPTH=1", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3"}) {
    const space::Config slow = toy::config(family_, text);
    plan_.candidates.push_back({.kernel = kernel_, .config = slow});
    device_.behaviours["toy<1," + std::string(1, text[std::string_view(text).size() - 1]) + ">"]
        .time_ns = 3000;
  }
  const PortfolioTimes times = run();
  EXPECT_THAT(times.matrix.times_ns[1], Each(std::optional(500.0)));
  EXPECT_EQ(heard_.front().timed, 6U);
  for (std::size_t i = 1; i < heard_.size(); ++i) {
    EXPECT_EQ(heard_[i].timed, 4U) << "so many are timed in any case";
  }
}

TEST_F(PortfolioTimesTest, ACandidateIsTimedNearWhereItWonThoughItLosesElsewhere) {
  plan_.sizes = {{10}, {11}, {12}, {4096}};
  for (const char* const text : {"TILE=1,DEPTH=1", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3"}) {
    plan_.candidates.push_back({.kernel = kernel_, .config = toy::config(family_, text)});
  }
  for (const char* const name : {"toy<1,1>", "toy<1,2>", "toy<1,3>"}) {
    device_.behaviours[name].time_ns = 3000;
  }
  plan_.candidates.back().won_at = {{4096}};
  const PortfolioTimes times = run();
  const auto at = static_cast<std::size_t>(std::ranges::find(times.sizes, space::Size{4096}) -
                                           times.sizes.begin());
  EXPECT_TRUE(times.matrix.times_ns[5][at]);
}

TEST_F(PortfolioTimesTest, MembersOfOtherPortfoliosAreTimedBeforeWhatWonNearby) {
  plan_.sizes = {{10}};
  plan_.candidates[1].won_at = {{10}};
  plan_.candidates[2].was_member = true;
  plan_.compile_threads = 1;
  static_cast<void>(run());
  EXPECT_EQ(device_.compiled().front(), "toy<4,1>") << "so it is compiled and timed first";
}

TEST_F(PortfolioTimesTest, AMemberIsTimedAtAllSizesThoughItLosesAtMost) {
  plan_.sizes = {{10}, {11}, {12}, {13}, {14}};
  for (const char* const text : {"TILE=1,DEPTH=1", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3"}) {
    plan_.candidates.push_back({.kernel = kernel_, .config = toy::config(family_, text)});
  }
  for (const char* const name : {"toy<1,1>", "toy<1,2>"}) device_.behaviours[name].time_ns = 3000;
  device_.on_launch = [&](const std::string&) {
    device_.behaviours["toy<1,3>"].time_ns = heard_.empty() ? 400 : 4000;
  };
  const PortfolioTimes times = run();
  EXPECT_EQ(heard_.back().timed, 4U) << "it is not timed while candidates are compared";
  EXPECT_EQ(times.matrix.times_ns[5][0], 400);
  for (std::size_t i = 1; i < times.sizes.size(); ++i) {
    EXPECT_EQ(times.matrix.times_ns[5][i], 4000);
  }
}

TEST_F(PortfolioTimesTest, MembersAloneAreTimedAtFurtherSizesWhichDoNotCountInTheChoice) {
  plan_.further = {{15}, {30}};
  const PortfolioTimes times = run();
  EXPECT_THAT(times.sizes, SizeIs(5));
  ASSERT_THAT(times.further, SizeIs(2));
  EXPECT_EQ(times.further[1].size, space::Size({30}));
  EXPECT_EQ(times.further[1].member_ns, 500);
  EXPECT_EQ(times.further[1].library_ns, 700);
  EXPECT_EQ(device_.compiled().size(), 3U);
  const auto trials = store_.trials({.family = family_.name});
  EXPECT_EQ(std::ranges::count_if(trials, [](const auto& it) { return it.trial.problem == "30"; }),
            1)
      << "toy<3,2> alone is a member";
}

TEST_F(PortfolioTimesTest, PresentMembersAreTimedAtFurtherSizesAndNothingElse) {
  plan_.sizes.clear();
  plan_.further = {{15}, {30}, {31}, {32}};
  for (const char* const text : {"TILE=1,DEPTH=1", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3"}) {
    plan_.candidates.push_back({.kernel = kernel_, .config = toy::config(family_, text)});
  }
  for (const char* const name : {"toy<1,1>", "toy<1,2>"}) device_.behaviours[name].time_ns = 3000;
  plan_.present = {{"", {1, 2, 3, 4, 5}}};
  const PortfolioTimes times = run();
  EXPECT_THAT(times.sizes, IsEmpty());
  ASSERT_THAT(times.further, SizeIs(4));
  EXPECT_EQ(times.further[3].member_ns, 500);
  EXPECT_EQ(times.further[3].library_ns, 700);
  EXPECT_THAT(device_.compiled(), testing::Not(Contains("toy<2,1>"))) << "the default, no member";
  ASSERT_THAT(heard_, SizeIs(4));
  EXPECT_TRUE(heard_.front().is_further);
  EXPECT_EQ(heard_.front().timed, 5U);
  EXPECT_EQ(heard_.back().timed, 4U) << "one of those that take six times as long is left out";
  EXPECT_THAT(searched_, IsEmpty());
}

TEST_F(PortfolioTimesTest, WhereAPresentPortfolioHasNoTimeOfTheLibraryItIsTimedAlone) {
  plan_.sizes.clear();
  plan_.present = {{"", {1, 2}}};
  plan_.without_library = {{10}, {20}};
  const PortfolioTimes times = run();
  EXPECT_THAT(times.library_ns,
              ElementsAre(std::pair(space::Size{10}, 700.0), std::pair(space::Size{20}, 700.0)));
  EXPECT_EQ(times.trials, 0U);
}

TEST_F(PortfolioTimesTest, AFurtherSizeThatIsNotFinishedDoesNotCount) {
  std::chrono::steady_clock::time_point now;
  plan_.now = [&] { return now; };
  plan_.sizes.clear();
  plan_.further = {{15}, {30}};
  plan_.present = {{"", {1, 2}}};
  plan_.max_time = std::chrono::seconds(1);
  device_.on_launch = [&](const std::string&) { now += std::chrono::seconds(1); };
  EXPECT_THAT(run().further, IsEmpty());
  EXPECT_THAT(store_.runs(), SizeIs(1)) << "a portfolio names kernels of which there are runs";
}

TEST_F(PortfolioTimesTest, WhereTheLibraryIsFasterAKernelIsSearchedAndWhatIsFoundIsTimed) {
  plan_.candidates.erase(plan_.candidates.begin() + 1);  // the one that is faster than the library
  const PortfolioTimes times = run();
  ASSERT_FALSE(searched_.empty());
  EXPECT_EQ(searched_.front().before_ns, 1000);
  EXPECT_EQ(searched_.front().found_ns, 500);
  ASSERT_THAT(times.candidates, SizeIs(3));
  EXPECT_EQ(times.candidates[2].config_json(), R"({"DEPTH":2,"TILE":3})");
  EXPECT_THAT(times.matrix.times_ns[2], Each(std::optional(500.0)));
  EXPECT_THAT(searched_, SizeIs(1)) << "then no size is slower than the library";
}

TEST_F(PortfolioTimesTest, WhereTheLibraryIsSlowerNothingIsSearched) {
  static_cast<void>(run());
  EXPECT_THAT(searched_, IsEmpty());
}

TEST_F(PortfolioTimesTest, NoMoreSizesAreSearchedThanThereAreMembers) {
  device_.library_ns = 1;
  plan_.members = 2;
  static_cast<void>(run());
  EXPECT_THAT(searched_, SizeIs(2));
}

TEST_F(PortfolioTimesTest, AKernelOfWhichNothingIsKnownIsSearched) {
  plan_.candidates.resize(1);  // the default
  plan_.unknown = {kernel_};
  const PortfolioTimes times = run();
  std::vector<std::string> found;
  for (const PortfolioCandidate& it : times.candidates) found.push_back(it.config_json());
  EXPECT_THAT(found, Contains(R"({"DEPTH":2,"TILE":3})"));
}

TEST_F(PortfolioTimesTest, AnUnknownKernelIsNotSearchedAtTheLargestSize) {
  plan_.candidates.resize(1);
  plan_.unknown = {kernel_};
  std::vector<space::Size> searched;
  const PortfolioTimes times = run();
  for (const PortfolioCandidate& it : times.candidates) {
    searched.insert(searched.end(), it.won_at.begin(), it.won_at.end());
  }
  EXPECT_THAT(searched, Contains(space::Size{40}));
  EXPECT_THAT(searched, testing::Not(Contains(space::Size{160})));
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
  plan_.further = {{15}, {30}};
  const PortfolioTimes some = run();
  EXPECT_THAT(some.sizes, testing::AllOf(testing::Not(IsEmpty()), SizeIs(testing::Lt(5U))));
  for (const auto& times : some.matrix.times_ns) EXPECT_THAT(times, SizeIs(some.sizes.size()));
}

}  // namespace
}  // namespace tuner::session
