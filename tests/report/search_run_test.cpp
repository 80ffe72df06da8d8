// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/search_run.hpp"

#include "sample_store.hpp"
#include "tuner/report/history.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tuner::report {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr const char* kSearched = "64,64,64";

std::string config(int value) {
  return fmt::format(R"({{"A":{}}})", value);
}

/// Runs in one database; every method ends with what the report makes of them.
class SearchRuns : public testing::Test {
 protected:
  void begin(const std::string& command = "tune", double wall_s = 0) {
    store::RunRecord record;
    record.uuid = fmt::format("session-{}", ++runs_);
    record.strategy = "auto";
    record.command = command;
    record.valid = 4;
    record.state = store::RunState::budget_spent;
    record.wall_s = wall_s;
    run_ = store_.begin_run(subject_, record);
    store_.end_run(run_, record);
    elapsed_s_ = 0;
  }

  void run(int value, std::optional<double> ns, Outcome outcome = Outcome::ok) {
    store::TrialRecord trial;
    trial.problem = kSearched;
    trial.config_json = config(value);
    trial.outcome = outcome;
    if (ns) trial.time = TimeSummary{*ns, *ns, *ns, *ns, 5};
    store_.record_trial(run_, trial, elapsed_s_ += 2);
  }

  void win(int value, const std::string& role = "candidate") {
    store::BestRecord best;
    best.problem = kSearched;
    best.config_json = config(value);
    best.time = TimeSummary{1, 1, 1, 1, 30};
    store::FinalistRecord winner{role, config(value), best.time, 1.0, 1.0, 1.0, {}};
    store::FinalistRecord library{"library", "", best.time, 0.9, 0.9, 0.9, {}};
    store_.record_final(run_, best, {library, winner});
  }

  [[nodiscard]] std::vector<SearchRun> runs() const {
    return kernel_histories(store_, subject_.device.name).at(0).sizes.at(0).searches;
  }
  [[nodiscard]] std::vector<Beginning> beginnings() const {
    std::vector<Beginning> found;
    for (const SearchRun& one : runs()) found.push_back(one.beginning);
    return found;
  }

  store::Subject subject_ = sample_subject("gemm_shared");
  store::Store store_ = store::Store::in_memory();

 private:
  std::int64_t run_ = 0;
  int runs_ = 0;
  double elapsed_s_ = 0;
};

TEST_F(SearchRuns, ImprovementsAreCountedInAllCandidatesAndSeconds) {
  begin("tune", 30);
  run(1, 400);
  run(2, {}, Outcome::timeout);
  run(3, 100);
  run(4, 300);
  const SearchRun one = runs().at(0);
  ASSERT_THAT(one.improvements, SizeIs(2));
  EXPECT_EQ(one.improvements[1].candidates, 3);
  EXPECT_EQ(one.improvements[1].seconds, 6);
  EXPECT_EQ(one.improvements[1].ns, 100);
  EXPECT_EQ(one.candidates, 4);
  EXPECT_EQ(one.seconds, 8);
  EXPECT_EQ(one.wall_s, 30);
  EXPECT_TRUE(one.exhausted);
}

TEST_F(SearchRuns, WhatEarlierRunsTriedCountsAsTried) {
  begin();
  run(1, 400);
  run(2, 100);
  begin();
  run(3, 200);
  run(4, 300);
  EXPECT_FALSE(runs().at(0).exhausted);
  EXPECT_TRUE(runs().at(1).exhausted);
}

TEST_F(SearchRuns, AConfigurationRunAgainCountsOnceWithTheResultThatStands) {
  begin();
  run(1, 400);
  run(2, 100);
  run(3, 200);
  run(2, {}, Outcome::crashed);
  const SearchRun one = runs().at(0);
  EXPECT_EQ(one.candidates, 3);
  EXPECT_EQ(one.best_by(ProgressAxis::candidates, 2), 400);
  EXPECT_EQ(one.best_by(ProgressAxis::candidates, 3), 200);
}

TEST_F(SearchRuns, ReachedAndBestByAgreeAtTheirLimits) {
  begin();
  run(1, {}, Outcome::crashed);
  run(2, 100);
  const SearchRun one = runs().at(0);
  EXPECT_EQ(one.best_by(ProgressAxis::seconds, 3.9), std::nullopt);
  EXPECT_EQ(one.best_by(ProgressAxis::seconds, 4), 100);
  EXPECT_EQ(one.reached(ProgressAxis::seconds, 100), 4);
  EXPECT_EQ(one.reached(ProgressAxis::candidates, 99), std::nullopt);
  EXPECT_TRUE(one.lasted(ProgressAxis::seconds, 4));
  EXPECT_FALSE(one.lasted(ProgressAxis::seconds, 4.1));
  EXPECT_FALSE(one.lasted(ProgressAxis::candidates, 3));
}

TEST_F(SearchRuns, ARunThatRunsNothingOfWhatIsKnownHasReusedIt) {
  begin();
  run(1, 400);
  run(2, 300);
  begin();
  run(3, 200);
  begin("tune --db other.sqlite");
  run(1, 400);
  run(4, 100);
  EXPECT_THAT(beginnings(), ElementsAre(Beginning::anew, Beginning::with_results, Beginning::anew));
}

TEST_F(SearchRuns, ALostFinalistIsNoNewBeginning) {
  begin();
  run(1, 400);
  begin();
  run(2, 300);
  run(1, {}, Outcome::crashed);
  EXPECT_THAT(beginnings(), ElementsAre(Beginning::anew, Beginning::with_results));
}

TEST_F(SearchRuns, WhatIsTriedAgainAnywayTellsNothing) {
  begin();
  run(1, {}, Outcome::unstable);
  run(2, 300);
  begin();
  run(1, 400);
  EXPECT_THAT(beginnings(), ElementsAre(Beginning::anew, Beginning::with_results));
}

TEST_F(SearchRuns, AFreshRunThatBeginsWithAnEarlierWinnerWasToldIt) {
  begin();
  run(1, 400);
  run(2, 100);
  win(2);
  begin("tune --fresh");
  run(1, 400);
  run(2, 100);
  begin("tune --db other.sqlite");
  run(1, 400);
  run(2, 100);
  EXPECT_THAT(beginnings(), ElementsAre(Beginning::anew, Beginning::with_winner, Beginning::anew));
}

TEST_F(SearchRuns, ADefaultThatWonIsNoHint) {
  begin();
  run(1, 100);
  win(1, "default");
  begin("tune --fresh");
  run(1, 100);
  EXPECT_THAT(beginnings(), ElementsAre(Beginning::anew, Beginning::anew));
}

TEST_F(SearchRuns, ResultsOfAnotherEnvironmentAreNotReused) {
  begin();
  run(1, 400);
  subject_.environment.driver = "14.0";
  begin();
  run(2, 100);
  const std::vector<SearchRun> found = runs();
  EXPECT_THAT(beginnings(), ElementsAre(Beginning::anew, Beginning::anew));
  EXPECT_EQ(found.at(0).environment.driver, "13.0");
  EXPECT_EQ(found.at(1).environment.driver, "14.0");
}

}  // namespace
}  // namespace tuner::report
