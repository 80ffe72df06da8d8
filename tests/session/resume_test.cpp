// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind when it is cut short, and what the next one takes from it.
#include "tests/session/session_fixture.hpp"
#include "tuner/core/error.hpp"

namespace tuner::session {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using ResumeTest = SessionTest;

TEST_F(ResumeTest, ASecondRunTakesEveryResultFromTheDatabase) {
  device.behaviours["toy<1,1>"].failure = Outcome::wrong_result;
  static_cast<void>(run({.sizes = {{10}}}));
  device.launches.clear();
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.sizes.front().evaluated, 12U);
  EXPECT_EQ(result.sizes.front().reused, 12U);
  EXPECT_EQ(seen.reused(), 12U);
  EXPECT_EQ(seen.openings.front().sizes.front().known, 12U);
  EXPECT_THAT(stored_trials(), IsEmpty());
  EXPECT_EQ(device.launches.count("toy<1,1>"), 0U) << "only finalists are launched";
  EXPECT_EQ(std::ranges::count(device.compiled(), "toy<1,1>"), 1) << "or compiled again";
  EXPECT_EQ(result.sizes.front().best->config_json, kFastest);
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::wrong_result), 1U);
}

TEST_F(ResumeTest, WithoutResumingEverythingIsRunAgain) {
  static_cast<void>(run({.sizes = {{10}}}));
  const RunResult result = run({.sizes = {{10}}, .resume = Resume::no});
  EXPECT_EQ(result.sizes.front().reused, 0U);
  EXPECT_THAT(stored_trials(), SizeIs(12));
}

TEST_F(ResumeTest, ASearchThatWasCutShortIsContinuedWithAllItsPatience) {
  static_cast<void>(run_interrupted_after(8, {.sizes = {{10}}, .strategy = "exhaustive"}));
  const RunResult result = run({.sizes = {{10}}, .strategy = "exhaustive", .patience = 3});
  EXPECT_EQ(result.sizes.front().reused, 8U);
  EXPECT_GE(result.sizes.front().evaluated, 8U + 3);
}

TEST_F(ResumeTest, RunsThatAreContinuedCountAlsoWithoutResuming) {
  static_cast<void>(run({.sizes = {{10}}}));
  const RunResult first = run({.sizes = {{10}}, .max_evaluations = 5, .resume = Resume::no});
  const RunResult second = run({.sizes = {{10}}, .resume = Resume::no, .continued = {first.uuid}});
  EXPECT_EQ(second.sizes.front().reused, 5U);
  EXPECT_EQ(second.sizes.front().evaluated, 12U);
}

TEST_F(ResumeTest, ResultsOfAnotherKernelHashAreNotReusedButTheirBestDefendsItsPlace) {
  static_cast<void>(run({.sizes = {{10}}}));
  family.kernels.front().hash = "another";
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.sizes.front().reused, 0U);
  EXPECT_EQ(seen.order()[1], kFastest);
  EXPECT_EQ(result.sizes.front().finalists.front().role, "incumbent");
}

TEST_F(ResumeTest, ResultsJudgedByAnotherCheckAreNotReusedButTheirBestIsTriedFirst) {
  static_cast<void>(run({.sizes = {{10}}}));
  family = toy::family_with(R"("accumulates": "N")", R"("accumulates": "2*N")");
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.sizes.front().reused, 0U);
  EXPECT_EQ(seen.order()[1], kFastest);
  EXPECT_EQ(result.sizes.front().finalists.front().role, "incumbent");
  EXPECT_EQ(run({.sizes = {{10}}}).sizes.front().reused, 12U);
}

TEST_F(ResumeTest, ABestThatAnotherCheckRefutesIsNotAnsweredFromAnyMore) {
  static_cast<void>(run({.sizes = {{10}}}));
  ASSERT_EQ(stored_best(), kFastest);
  family = toy::family_with(R"("accumulates": "N")", R"("accumulates": "2*N")");
  device.behaviours["toy<3,2>"].failure = Outcome::wrong_result;
  static_cast<void>(run_interrupted_after(3, {.sizes = {{10}}}));
  EXPECT_NE(stored_best(), kFastest);
}

TEST_F(ResumeTest, SaysWhyWhatItReusesHadFailed) {
  device.behaviours["toy<3,3>"].failure = Outcome::wrong_result;
  const RunResult first = run({.sizes = {{10}}});
  EXPECT_THAT(first.sizes.front().reused_failures, IsEmpty());
  const auto trials = stored_trials();
  const auto wrong = std::ranges::find_if(trials, [](const store::StoredTrial& stored) {
    return stored.trial.outcome == Outcome::wrong_result;
  });
  ASSERT_NE(wrong, trials.end());
  const RunResult second = run({.sizes = {{10}}});
  ASSERT_THAT(second.sizes.front().reused_failures, SizeIs(1));
  const store::TrialRecord& failure = second.sizes.front().reused_failures.front();
  EXPECT_EQ(failure.config_json, R"({"DEPTH":3,"TILE":3})");
  EXPECT_EQ(failure.outcome, Outcome::wrong_result);
  EXPECT_EQ(failure.message, wrong->trial.message);
  EXPECT_THAT(failure.message, HasSubstr("wrong elements: "));
}

TEST_F(ResumeTest, ResultsOfAnotherSizeAreNotReused) {
  static_cast<void>(run({.sizes = {{10}}}));
  EXPECT_EQ(run({.sizes = {{20}}}).sizes.front().reused, 0U);
}

TEST_F(ResumeTest, AnInterruptionKeepsTheTrialsAndTellsTheFastestWhichIsNoResult) {
  const RunResult result = run_interrupted_after(3, {.sizes = {{10}}});
  EXPECT_EQ(result.state, store::RunState::interrupted);
  EXPECT_EQ(store.runs().front().state, store::RunState::interrupted);
  EXPECT_THAT(stored_trials(), SizeIs(3));
  EXPECT_THAT(seen.finals, IsEmpty());
  EXPECT_TRUE(result.sizes.front().best);
  EXPECT_THAT(result.sizes.front().finalists, IsEmpty());
  EXPECT_THAT(store.bests({}), IsEmpty());

  const RunResult rest = run({.sizes = {{10}}});
  EXPECT_EQ(rest.state, store::RunState::complete);
  EXPECT_EQ(rest.sizes.front().reused, 3U);
  EXPECT_THAT(stored_trials(), SizeIs(9));
  EXPECT_EQ(stored_best(), kFastest);
}

TEST_F(ResumeTest, AnInterruptedRunDoesNotReplaceWhatWasBestBefore) {
  static_cast<void>(run({.sizes = {{10}}}));
  device.behaviours["toy<2,1>"].time_ns = 100;  // the default has become the fastest
  const RunResult result = run_interrupted_after(3, {.sizes = {{10}}, .resume = Resume::no});
  EXPECT_EQ(result.sizes.front().best->config_json, kDefault) << "of this run";
  EXPECT_EQ(stored_best(), kFastest) << "in the database";
}

TEST_F(ResumeTest, ACandidateThatCrashedIsNotTriedAgain) {
  device.behaviours["toy<3,3>"].failure = Outcome::crashed;
  static_cast<void>(run({.sizes = {{10}}}));
  device.launches.clear();
  const RunResult again = run({.sizes = {{10}}});
  EXPECT_EQ(again.sizes.front().reused, 12U);
  EXPECT_EQ(again.sizes.front().outcomes.at(Outcome::crashed), 1U);
  EXPECT_EQ(device.launches.count("toy<3,3>"), 0U);
}

TEST_F(ResumeTest, AStoredBestThatTheSpaceNoLongerHasIsNoIncumbent) {
  static_cast<void>(run({.sizes = {{10}}}));
  family = toy::family("TILE <= 2");
  const RunResult result = run({.sizes = {{10}}, .resume = Resume::no});
  EXPECT_EQ(result.sizes.front().evaluated, 6U);
  for (const store::FinalistRecord& finalist : result.sizes.front().finalists) {
    EXPECT_NE(finalist.role, "incumbent");
  }
}

}  // namespace
}  // namespace tuner::session
