// SPDX-License-Identifier: Apache-2.0
// Runs of more sizes than are searched at once.
#include "tests/session/session_fixture.hpp"
#include "tuner/session/size_board.hpp"

#include <set>

namespace tuner::session {
namespace {

using testing::SizeIs;
using testing::UnorderedElementsAre;

class SuiteTest : public SessionTest {
 protected:
  static std::vector<space::Size> sizes() {
    std::vector<space::Size> all;
    for (std::int64_t size = 10; size < 30; ++size) all.push_back({size});
    return all;
  }
  /// The configurations tried at each size, in order.
  std::map<space::Size, std::vector<std::string>> tried() const {
    std::map<space::Size, std::vector<std::string>> by_size;
    for (const Recorder::Step& step : seen.steps) {
      by_size[step.progress.size].push_back(step.trial.config_json);
    }
    return by_size;
  }
};

TEST_F(SuiteTest, RunsTheFinalRoundOfASizeWhenItsSearchEndsAndSearchesFewAtOnce) {
  const RunResult result = run({.sizes = sizes()});
  EXPECT_EQ(result.state, store::RunState::complete);
  ASSERT_THAT(result.sizes, SizeIs(20));
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(result.sizes[i].size, sizes()[i]) << "in the order of the plan";
    EXPECT_EQ(result.sizes[i].best->config_json, kFastest);
    EXPECT_EQ(result.sizes[i].evaluated, 12U);
  }
  std::set<space::Size> begun;
  for (const Recorder::Step& step : seen.steps) {
    begun.insert(step.progress.size);
    EXPECT_LE(begun.size() - step.finished, SizeBoard::kAtOnce);
  }
  EXPECT_GE(seen.steps.back().finished, 20 - SizeBoard::kAtOnce);
}

TEST_F(SuiteTest, ALaterSizeBeginsWithWhatWonNearby) {
  static_cast<void>(run({.sizes = sizes(), .strategy = "exhaustive"}));
  std::set<space::Size> begun;
  std::set<space::Size> later;
  for (const Recorder::Step& step : seen.steps) {
    const space::Size& size = step.progress.size;
    if (begun.insert(size).second && step.finished > 0) later.insert(size);
  }
  EXPECT_GE(later.size(), 20 - SizeBoard::kAtOnce);
  const auto by_size = tried();
  for (const space::Size& size : later) {
    const std::vector<std::string> first(by_size.at(size).begin(), by_size.at(size).begin() + 2);
    EXPECT_THAT(first, UnorderedElementsAre(kDefault, kFastest));
  }
}

TEST_F(SuiteTest, AnInterruptionKeepsTheFinalRoundsOfSizesThatEnded) {
  const RunResult result = run_interrupted_after(150, {.sizes = sizes()});
  EXPECT_EQ(result.state, store::RunState::interrupted);
  ASSERT_THAT(result.sizes, SizeIs(20)) << "those that were not begun, too";
  EXPECT_THAT(result.sizes, testing::Contains(testing::Field(&SizeResult::evaluated, 0U)));
  const auto finished = [](const SizeResult& size) { return !size.finalists.empty(); };
  EXPECT_GE(std::ranges::count_if(result.sizes, finished), 2);
  EXPECT_EQ(run({.sizes = sizes()}).state, store::RunState::complete);
  EXPECT_THAT(store.bests({}), SizeIs(20));
}

TEST_F(SuiteTest, PatienceEndsTheSearchAtASize) {
  device.behaviours["toy<3,2>"].time_ns = 1000;
  device.behaviours["toy<1,3>"].time_ns = 500;
  const RunResult result = run({.sizes = {{10}, {20}}, .strategy = "exhaustive", .patience = 4});
  EXPECT_EQ(result.state, store::RunState::complete);
  for (const auto& [size, configs] : tried()) {
    const auto gain = std::ranges::find(configs, R"({"DEPTH":3,"TILE":1})");
    EXPECT_EQ(configs.end() - gain, 1 + 4);
    EXPECT_LT(configs.size(), 12U);
  }
}

TEST_F(SuiteTest, WhatIsFastestAtOneSizeIsNotTriedAtOnceWhereThatIsFar) {
  device.behaviours["toy<3,2>"].time_ns = 1000;
  std::vector<space::Size> all = {{10}, {11}, {12}, {13}, {14}, {1000}};
  family = toy::family("N == 1000 ? TILE == 4 or TILE == 2 : TILE*DEPTH <= 12");
  device.behaviours["toy<4,3>"].time_ns = 500;
  static_cast<void>(run({.sizes = all, .strategy = "exhaustive"}));
  const auto place = [&](const space::Size& size) {
    const std::vector<std::string> order = tried()[size];
    return std::ranges::find(order, R"({"DEPTH":3,"TILE":4})") - order.begin();
  };
  EXPECT_EQ(place({10}), 11) << "the last of its space";
  EXPECT_EQ(place({1000}), 5) << "likewise";
}

}  // namespace
}  // namespace tuner::session
