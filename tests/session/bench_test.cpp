// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include "tests/session/toy.hpp"
#include "tuner/worker/evaluator.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Configurations of the toy family at N = 10; the default, toy<2,1>, takes 1000 ns as all others.
class BenchTest : public testing::Test {
 protected:
  BenchResult run(const std::vector<std::string_view>& configs,
                  const std::function<bool()>& stop = kNeverStop) {
    return run(configs, BenchPlan{.size = {}, .configs = {}, .finals = {.rounds = 10}}, stop);
  }
  /// The configurations are added to the plan.
  BenchResult run(const std::vector<std::string_view>& configs, BenchPlan plan,
                  const std::function<bool()>& stop = kNeverStop) {
    plan.size = {10};
    for (const std::string_view text : configs) plan.configs.push_back(toy::config(family_, text));
    worker::Evaluator evaluator(device_, device_.compiler(), family_, 0);
    return run_bench(family_.kernels.front(), plan, evaluator, device_.compiler(), stop);
  }

  static std::vector<std::string> roles(const BenchResult& result) {
    std::vector<std::string> roles;
    for (const BenchContender& contender : result.contenders) roles.push_back(contender.role);
    return roles;
  }

  family::Family family_ = toy::family();
  toy::Device device_;
};

TEST_F(BenchTest, ALibraryThatCannotBeTimedIsLeftOut) {
  device_.library_failure = Outcome::unstable;
  const BenchResult result = run({"TILE=3"});
  EXPECT_THAT(roles(result), ElementsAre("candidate", "default"));
  EXPECT_TRUE(result.contenders.front().timed);
  EXPECT_EQ(result.library_problem, "the library fails");
  device_.library_failure.reset();
  EXPECT_EQ(run({"TILE=3"}).library_problem, "");
}

TEST_F(BenchTest, TimesWhatIsRightBesideTheDefaultAndTheLibraryFastestFirst) {
  device_.behaviours["toy<3,2>"] = {.time_ns = 500, .failure = {}, .resources = {.registers = 40}};
  device_.behaviours["toy<1,1>"].time_ns = 504;
  device_.library_ns = 400;
  const BenchResult result = run({"TILE=1,DEPTH=1", "TILE=3,DEPTH=2"});
  ASSERT_THAT(roles(result), ElementsAre("library", "candidate", "candidate", "default"));
  const BenchContender& fastest = result.contenders[1];
  EXPECT_EQ(fastest.trial.config_json, R"({"DEPTH":2,"TILE":3})");
  EXPECT_EQ(fastest.trial.registers, 40);
  EXPECT_EQ(fastest.trial.shared_bytes, 12U) << "what the launch asks for";
  EXPECT_EQ(fastest.timed->time.median_ns, 500);
  EXPECT_EQ(fastest.timed->time.samples, 10);
  EXPECT_EQ(fastest.timed->hot_ns, 50);
  EXPECT_EQ(fastest.place, Place::fastest);
  EXPECT_EQ(result.contenders[2].place, Place::tied) << "within 1 %";
  EXPECT_EQ(result.contenders[3].place, Place::slower);
  EXPECT_EQ(result.contenders[3].timed->ratio_to_best, 2.0);
  EXPECT_EQ(result.contenders[0].timed->ratio_to_best, 0.8) << "beside the fastest configuration";
  EXPECT_EQ(result.contenders[0].place, std::nullopt) << "it is no configuration";
}

TEST_F(BenchTest, TheDefaultStandsInTheListOnceAndOnlyWhereItIsValid) {
  EXPECT_THAT(roles(run({""})), ElementsAre("default", "library"));
  family_ = toy::family("TILE*DEPTH != 2");
  EXPECT_THAT(roles(run({"TILE=3"})), ElementsAre("candidate", "library"));
}

TEST_F(BenchTest, WhatFailsIsReportedAsASessionRecordsItAndNotTimed) {
  device_.behaviours["toy<3,2>"].failure = Outcome::wrong_result;
  device_.behaviours["toy<1,1>"].failure = Outcome::compile_error;
  const BenchResult result = run({"TILE=3,DEPTH=2", "TILE=1,DEPTH=1"});
  ASSERT_THAT(roles(result), ElementsAre("candidate", "candidate", "default", "library"));
  const BenchContender& wrong = result.contenders[0];
  EXPECT_EQ(wrong.trial.outcome, Outcome::wrong_result);
  EXPECT_THAT(wrong.trial.message, HasSubstr("seed 0"));
  EXPECT_EQ(wrong.timed, std::nullopt);
  EXPECT_EQ(result.contenders[1].trial.outcome, Outcome::compile_error);
  EXPECT_EQ(result.contenders[1].trial.message, "toy<1,1> does not compile");
}

TEST_F(BenchTest, WithoutAnythingRightNothingIsTimed) {
  device_.behaviours["toy<2,1>"].failure = Outcome::launch_error;
  EXPECT_THAT(roles(run({""})), ElementsAre("default")) << "not even the library";
}

TEST_F(BenchTest, AContenderThatFailsBesideTheOthersIsLostAndTheOthersAreTimed) {
  device_.on_launch = [&](const std::string& entry) {
    // The default is judged after it, so both are through by then.
    if (entry == "toy<3,2>" && device_.launches.contains("toy<2,1>")) {
      device_.behaviours[entry].failure = Outcome::crashed;
    }
  };
  const BenchResult result = run({"TILE=3,DEPTH=2"});
  ASSERT_THAT(roles(result), ElementsAre("candidate", "default", "library"));
  const store::TrialRecord& lost = result.contenders[0].trial;
  EXPECT_EQ(lost.outcome, Outcome::crashed);
  EXPECT_EQ(lost.time, std::nullopt);
  EXPECT_THAT(lost.message, HasSubstr("(while timed beside the others)"));
}

TEST_F(BenchTest, RatiosMayBeToTheFirstConfigurationAndACompanionIsTimed) {
  device_.behaviours["toy<3,2>"].time_ns = 2000;
  const BenchResult result = run({"TILE=3,DEPTH=2"}, {.size = {},
                                                      .configs = {},
                                                      .finals = {.rounds = 10},
                                                      .beside = BenchPlan::Beside::first,
                                                      .companion = &family_.kernels.front()});
  ASSERT_THAT(roles(result), ElementsAre("default", "library", "companion", "candidate"));
  EXPECT_EQ(result.contenders[0].timed->ratio_to_best, 0.5);
  EXPECT_EQ(result.contenders[2].timed->ratio_to_best, 0.5) << "the companion's default";
  EXPECT_EQ(result.contenders[2].place, std::nullopt);
  EXPECT_EQ(result.contenders[3].timed->ratio_to_best, 1);
}

TEST_F(BenchTest, ACompanionThatFailsIsLeftOut) {
  family_ = toy::family("TILE*DEPTH != 2");  // which rejects the default
  device_.behaviours["toy<2,1>"].failure = Outcome::compile_error;
  const BenchResult result = run(
      {"TILE=3"},
      {.size = {}, .configs = {}, .finals = {.rounds = 10}, .companion = &family_.kernels.front()});
  EXPECT_THAT(roles(result), ElementsAre("candidate", "library"));
  EXPECT_EQ(result.companion_problem, "toy<2,1> does not compile");
  EXPECT_TRUE(result.contenders.front().timed);
}

TEST_F(BenchTest, TellsEachStageAndEachContenderThatWasJudgedWithItsChecks) {
  std::vector<BenchStage> stages;
  std::vector<std::string> judged;
  BenchPlan plan{.size = {}, .configs = {}, .finals = {.rounds = 10}};
  plan.began = [&](BenchStage stage) { stages.push_back(stage); };
  plan.judged = [&](const BenchContender& contender) {
    judged.push_back(contender.role);
    EXPECT_FALSE(contender.timed);
    EXPECT_FALSE(contender.checks.empty());
  };
  const BenchResult result = run({"TILE=3"}, plan);
  using enum BenchStage;
  EXPECT_THAT(stages, ElementsAre(compile, verify, compile, verify, time));
  EXPECT_THAT(judged, ElementsAre("candidate", "default"));
  EXPECT_EQ(result.contenders.front().checks.back().launch, "checked");
}

TEST_F(BenchTest, StoppedItLeavesOutWhatWasNotJudged) {
  EXPECT_THAT(run({"TILE=3"}, [] { return true; }).contenders, IsEmpty());
  int asked = 0;
  const BenchResult result = run({"TILE=3"}, [&] { return ++asked > 1; });
  ASSERT_THAT(result.contenders, SizeIs(1));
  EXPECT_EQ(result.contenders[0].trial.outcome, Outcome::ok);
  EXPECT_EQ(result.contenders[0].timed, std::nullopt);
}

}  // namespace
}  // namespace tuner::session
