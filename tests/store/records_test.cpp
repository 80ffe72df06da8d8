// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/records.hpp"

#include <gmock/gmock.h>

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

TEST(RunState, HasTheNamesThatTheDatabaseKeeps) {
  EXPECT_EQ(name(RunState::running), "running");
  EXPECT_EQ(name(RunState::complete), "complete");
  EXPECT_EQ(name(RunState::budget_spent), "budget_spent");
  EXPECT_EQ(name(RunState::interrupted), "interrupted");
  EXPECT_EQ(name(RunState::imported), "imported");
}

}  // namespace
}  // namespace tuner::store
