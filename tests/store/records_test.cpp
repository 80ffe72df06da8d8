// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/records.hpp"

#include <gmock/gmock.h>

#include <array>

namespace tuner::store {
namespace {

TEST(StandingTrials, AreTheLatestOfEveryConfigurationAtEverySize) {
  const auto trial = [](std::int64_t id, const char* problem, const char* config) {
    StoredTrial stored;
    stored.id = id;
    stored.trial.problem = problem;
    stored.trial.config_json = config;
    return stored;
  };
  std::vector<std::int64_t> standing;
  for (const StoredTrial& stored :
       standing_trials({trial(1, "8", "a"), trial(2, "8", "b"), trial(3, "9", "a"),
                        trial(4, "8", "a"), trial(5, "8", "c")})) {
    standing.push_back(stored.id);
  }
  EXPECT_THAT(standing, testing::ElementsAre(2, 3, 4, 5));
}

TEST(ColdRatios, AreOfSingleLaunchesWhateverTheRatioIsOf) {
  BestRecord best;
  best.time.median_ns = 100;
  best.default_ns = 250;
  best.library_ns = 90;
  best.ratio_to_default = 2.4;
  best.ratio_to_library = 1.2;
  best.sustained_ns = 80;
  EXPECT_DOUBLE_EQ(*cold_gain(best), 2.5);
  EXPECT_DOUBLE_EQ(*cold_ratio_to_library(best), 0.9);
  best.default_ns = best.library_ns = std::nullopt;  // as a line without them has it
  EXPECT_FALSE(cold_gain(best)) << "its ratio is of series";
  best.sustained_ns = std::nullopt;
  EXPECT_DOUBLE_EQ(*cold_gain(best), 2.4);
  EXPECT_DOUBLE_EQ(*cold_ratio_to_library(best), 1.2);
}

TEST(CommonMeasure, IsBackToBackWhereAllWereTimedSo) {
  BestRecord one, other;
  one.time.median_ns = 100;
  one.sustained_ns = 80;
  other.time.median_ns = 90;
  const auto measure = [&] { return CommonMeasure(std::array{&one, &other}); };
  EXPECT_FALSE(measure().is_back_to_back());
  EXPECT_EQ(measure().ns(one), 100);
  EXPECT_EQ(ranking_ns(one), 80) << "alone";
  EXPECT_EQ(ranking_ns(other), 90);
  EXPECT_FALSE(is_back_to_back(other));
  other.sustained_ns = 85;
  EXPECT_TRUE(measure().is_back_to_back());
  EXPECT_EQ(measure().ns(one), 80);
  EXPECT_EQ(measure().ns(other), 85);
}

TEST(RunState, HasTheNamesThatTheDatabaseKeeps) {
  EXPECT_EQ(name(RunState::running), "running");
  EXPECT_EQ(name(RunState::complete), "complete");
  EXPECT_EQ(name(RunState::budget_spent), "budget_spent");
  EXPECT_EQ(name(RunState::interrupted), "interrupted");
  EXPECT_EQ(name(RunState::imported), "imported");
}

}  // namespace
}  // namespace tuner::store
