// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session.hpp"

#include "tests/session/session_fixture.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/trial_record.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>
#include <utility>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(SessionTest, FindsTheFastestConfigurationAndStoresIt) {
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.state, store::RunState::complete);
  ASSERT_THAT(result.sizes, SizeIs(1));
  const SizeResult& size = result.sizes.front();
  ASSERT_TRUE(size.best);
  EXPECT_EQ(size.best->config_json, kFastest);
  EXPECT_EQ(size.winner_display, "TILE=3 DEPTH=2");
  EXPECT_EQ(size.best->ratio_to_default, 2.0);
  EXPECT_EQ(size.evaluated, 12U);
  EXPECT_EQ(size.reused, 0U);
  EXPECT_EQ(size.outcomes.at(Outcome::ok), 12U);

  EXPECT_EQ(stored_best(), kFastest);
  const store::RunRecord run = store.runs().front();
  EXPECT_EQ(run.uuid, result.uuid);
  EXPECT_EQ(run.state, store::RunState::complete);
  EXPECT_EQ(run.valid, 12U);
  EXPECT_THAT(store.trials(run.id), SizeIs(12));
  EXPECT_THAT(store.finalists(run.id, "10"), SizeIs(size.finalists.size()));
}

TEST_F(SessionTest, StoresWhatATrialUsedAndTook) {
  device.behaviours["toy<2,1>"] = {
      .time_ns = 700, .resources = {.registers = 40, .static_shared_bytes = 100, .local_bytes = 8}};
  static_cast<void>(run({.sizes = {{10}}, .seed = 5}));
  const store::TrialRecord trial = stored_trials().front().trial;
  EXPECT_EQ(trial.config_json, kDefault);
  EXPECT_EQ(trial.problem, "10");
  EXPECT_DOUBLE_EQ(trial.time->median_ns, 700);
  EXPECT_EQ(trial.time->samples, 20);
  EXPECT_EQ(trial.check_seed, 5U);
  EXPECT_EQ(trial.registers, 40);
  EXPECT_EQ(trial.local_bytes, 8U);
  EXPECT_EQ(trial.shared_bytes, 100U + 4 * 2) << "static and dynamic";
}

TEST_F(SessionTest, TellsTheLibrarysTimeAtASizeOnceAConfigurationWorks) {
  device.library_ns = 1500;
  seen.with_gauge = true;
  static_cast<void>(run({.sizes = {{10}}}));
  EXPECT_EQ(seen.steps.front().progress.library_ns, std::nullopt);
  for (std::size_t i = 1; i < seen.steps.size(); ++i) {
    EXPECT_EQ(seen.steps[i].progress.library_ns, 1500);
  }
  EXPECT_THAT(seen.rounds, testing::Not(IsEmpty()));

  device.library_failure = Outcome::launch_error;
  static_cast<void>(run({.sizes = {{20}}}));
  EXPECT_EQ(seen.steps.back().progress.library_ns, std::nullopt) << "and the search goes on";

  device.library_failure.reset();
  seen.with_gauge = false;
  static_cast<void>(run({.sizes = {{30}}}));
  EXPECT_EQ(seen.steps.back().progress.library_ns, std::nullopt) << "nobody would see it";
}

TEST_F(SessionTest, ReportsItsPlanItsProgressAndItsEnd) {
  const RunResult result = run({.sizes = {{10}, {20}}, .max_evaluations = 6});
  ASSERT_THAT(seen.openings, SizeIs(1));
  EXPECT_EQ(seen.openings.front().device.name, "Scripted device");
  EXPECT_EQ(seen.openings.front().cartesian, 12U);
  for (const Opening::SizePlan& size : seen.openings.front().sizes) {
    EXPECT_EQ(size.valid, 12U);
    EXPECT_EQ(size.planned, 6U);
    EXPECT_EQ(size.known, 0U);
  }
  ASSERT_THAT(seen.steps, SizeIs(12));
  for (std::size_t i = 0; i < seen.steps.size(); ++i) {
    const Progress& progress = seen.steps[i].progress;
    EXPECT_EQ(progress.evaluated, i + 1);
    EXPECT_EQ(progress.planned, 12U);
    EXPECT_EQ(progress.size, i % 2 == 0 ? space::Size{10} : space::Size{20}) << "sizes take turns";
    EXPECT_EQ(progress.remaining.has_value(), i >= 7) << "eight trials make a rate";
  }
  EXPECT_TRUE(seen.steps.front().progress.new_best);
  EXPECT_DOUBLE_EQ(seen.steps.front().progress.flops, 2000);
  EXPECT_EQ(seen.estimates, 1);
  EXPECT_THAT(seen.finals, ElementsAre(6, 6));
  EXPECT_THAT(seen.done, ElementsAre(space::Size{10}, space::Size{20}));
}

TEST_F(SessionTest, EvaluatesTheDefaultFirstThenWhatWasBestBefore) {
  static_cast<void>(run({.sizes = {{10}}}));
  EXPECT_EQ(seen.order().front(), kDefault);
  static_cast<void>(run({.sizes = {{10}}, .resume = Resume::no}));
  ASSERT_THAT(seen.order(), SizeIs(12));
  EXPECT_EQ(seen.order()[0], kDefault);
  EXPECT_EQ(seen.order()[1], kFastest);
}

TEST_F(SessionTest, SizesAndTheFinalShareOneCompilation) {
  compile_threads = 2;
  static_cast<void>(run({.sizes = {{10}, {20}, {30}}}));
  std::vector<std::string> compiled = device.compiled();
  EXPECT_THAT(compiled, SizeIs(12));
  EXPECT_THAT(std::set(compiled.begin(), compiled.end()), SizeIs(12));
}

TEST_F(SessionTest, FailuresAreRecordedAndCountedAndDoNotEndTheRun) {
  device.behaviours["toy<1,1>"].failure = Outcome::compile_error;
  device.behaviours["toy<1,2>"].failure = Outcome::launch_error;
  device.behaviours["toy<1,3>"].failure = Outcome::wrong_result;
  device.behaviours["toy<2,1>"].failure = Outcome::wrong_result;
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.state, store::RunState::complete);
  EXPECT_EQ(result.sizes.front().outcomes,
            (std::map<Outcome, std::uint64_t>{{Outcome::ok, 8},
                                              {Outcome::compile_error, 1},
                                              {Outcome::launch_error, 1},
                                              {Outcome::wrong_result, 2}}));
  EXPECT_EQ(seen.steps.back().progress.outcomes, result.sizes.front().outcomes);
  EXPECT_EQ(stored_best(), kFastest);

  std::map<std::string, store::TrialRecord> trials;
  for (const store::StoredTrial& stored : stored_trials()) {
    trials[stored.trial.config_json] = stored.trial;
    EXPECT_EQ(stored.trial.time.has_value(), stored.trial.outcome == Outcome::ok);
    EXPECT_EQ(stored.trial.message.empty(), stored.trial.outcome == Outcome::ok);
  }
  EXPECT_EQ(trials[R"({"DEPTH":1,"TILE":1})"].message, "toy<1,1> does not compile");
  EXPECT_THAT(trials[R"({"DEPTH":2,"TILE":1})"].message, HasSubstr("toy<1,2> fails"));
  EXPECT_EQ(trials[R"({"DEPTH":3,"TILE":1})"].outcome, Outcome::wrong_result);
  EXPECT_THAT(trials[R"({"DEPTH":3,"TILE":1})"].message, HasSubstr("wrong elements: 1 of 1"));
}

TEST_F(SessionTest, AConfigurationWithoutAValueForItsEntryFailsOneCandidate) {
  family = toy::family_with(R"json("entry": "toy<${TILE},${DEPTH}>",)json",
                            R"json("entry": "toy<${TILE},${DEPTH}> ${SHARE}",
                                   "derived": {"SHARE": "12//(TILE - 4)"},)json");
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.state, store::RunState::complete);
  EXPECT_EQ(result.sizes.front().outcomes,
            (std::map<Outcome, std::uint64_t>{{Outcome::ok, 9}, {Outcome::compile_error, 3}}));
  for (const store::StoredTrial& stored : stored_trials()) {
    if (stored.trial.outcome == Outcome::ok) continue;
    EXPECT_THAT(stored.trial.config_json, HasSubstr(R"("TILE":4)"));
    EXPECT_THAT(stored.trial.message, HasSubstr("SHARE"));
  }
}

TEST_F(SessionTest, AllCandidatesFailingLeavesASizeWithoutBest) {
  for (int tile = 1; tile <= 4; ++tile) {
    for (int depth = 1; depth <= 3; ++depth) {
      device.behaviours["toy<" + std::to_string(tile) + "," + std::to_string(depth) + ">"] = {
          .failure = Outcome::launch_error};
    }
  }
  const RunResult result = run({.sizes = {{10}}});
  ASSERT_THAT(result.sizes, SizeIs(1));
  EXPECT_FALSE(result.sizes.front().best);
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::launch_error), 12U);
  EXPECT_THAT(store.bests({}), IsEmpty());
  EXPECT_THAT(seen.finals, IsEmpty());
  EXPECT_THAT(seen.done, SizeIs(1));
}

TEST_F(SessionTest, NoValidConfigurationIsAnErrorThatNamesTheSize) {
  family = toy::family("TILE*DEPTH > N");
  try {
    static_cast<void>(run({.sizes = {{10}, {20}}}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_valid_config);
    EXPECT_THAT(error.what(), HasSubstr("toy has no valid configuration"));
    EXPECT_THAT(error.what(), HasSubstr(" at 20"));
  }
  EXPECT_THAT(store.runs(), IsEmpty());
}

TEST_F(SessionTest, EvaluatesNoMoreThanAskedForAtEachSize) {
  const RunResult result = run({.sizes = {{10}, {20}}, .max_evaluations = 5});
  EXPECT_EQ(result.state, store::RunState::complete);
  EXPECT_EQ(result.sizes[0].evaluated, 5U);
  EXPECT_EQ(result.sizes[1].evaluated, 5U);
  EXPECT_THAT(stored_trials(), SizeIs(10));
}

TEST_F(SessionTest, StopsSearchingWhenTimeIsUpAndStillHoldsTheFinal) {
  // A trial launches its candidate more than 22 times.
  device.on_launch = [this](const std::string&) {
    if (seen.steps.size() == 2) clock.advance(10ms);
  };
  const RunResult result = run({.sizes = {{10}}, .max_time = 150ms, .now = clock.now()});
  EXPECT_EQ(result.state, store::RunState::budget_spent);
  EXPECT_EQ(store.runs().front().state, store::RunState::budget_spent);
  EXPECT_EQ(result.sizes.front().evaluated, 3U);
  EXPECT_THAT(seen.finals, SizeIs(1));
  EXPECT_THAT(result.sizes.front().finalists, testing::Not(IsEmpty()));
}

TEST_F(SessionTest, TheSizeThatWaitsForTheFirstCompilationDoesNotPayForItAlone) {
  device.on_compile = [this, first = true](const std::string&) mutable {
    if (std::exchange(first, false)) clock.advance(300ms);  // a quarter is 250 ms
  };
  const RunResult result =
      run({.sizes = {{10}, {20}, {30}, {40}}, .max_time = 1000ms, .now = clock.now()});
  for (const SizeResult& size : result.sizes) EXPECT_EQ(size.evaluated, 12U) << "all of them";
}

TEST_F(SessionTest, ExpectsToTakeNoLongerThanItMay) {
  device.on_launch = [this](const std::string&) { clock.advance(200us); };
  static_cast<void>(run({.sizes = {{10}, {20}, {30}}, .max_time = 100ms, .now = clock.now()}));
  std::size_t estimates = 0;
  for (const Recorder::Step& step : seen.steps) {
    if (!step.progress.remaining || *step.progress.remaining == 0ms) continue;
    if (step.finished > 0) break;  // finals come on top
    EXPECT_LE(step.progress.elapsed + *step.progress.remaining, 100ms);
    ++estimates;
  }
  EXPECT_GT(estimates, 0U);
}

TEST_F(SessionTest, TrialsThatWereTimedWhileTheDeviceDriftedAreRepeated) {
  device.on_launch = [this](const std::string&) {
    clock.advance(100ms);
    if (seen.steps.size() == 20) device.library_ns = 1100;
  };
  const RunResult drifted = run({.sizes = {{10}, {20}, {30}}, .now = clock.now()});
  EXPECT_GT(drifted.requeued, 0);
  EXPECT_EQ(drifted.state, store::RunState::complete);

  device.on_launch = [this](const std::string&) { clock.advance(100ms); };
  const RunResult steady =
      run({.sizes = {{10}, {20}, {30}}, .resume = Resume::no, .now = clock.now()});
  EXPECT_EQ(steady.requeued, 0);
}

TEST_F(SessionTest, EverySizeHasAResultWhenTheTimeIsTooShortForAll) {
  std::vector<space::Size> sizes;
  for (std::int64_t n = 10; n <= 200; n += 10) sizes.push_back({n});
  device.on_launch = [this](const std::string&) { clock.advance(1ms); };
  for (const auto time : {0ms, 1ms, 100ms}) {
    const RunResult result =
        run({.sizes = sizes, .max_time = time, .resume = Resume::no, .now = clock.now()});
    EXPECT_EQ(result.state, store::RunState::budget_spent);
    ASSERT_THAT(result.sizes, SizeIs(sizes.size()));
    for (const SizeResult& size : result.sizes) {
      EXPECT_TRUE(size.best) << time.count();
      EXPECT_LE(size.evaluated, 4U);
    }
  }
}

TEST_F(SessionTest, WhatWonOnAnotherDeviceIsTriedAtEverySizeHoweverShortTheTime) {
  std::vector<space::Size> sizes;
  for (std::int64_t n = 10; n <= 100; n += 10) sizes.push_back({n});
  static_cast<void>(run({.sizes = sizes}));
  device.set_device_name("Another device");
  const RunResult result = run({.sizes = sizes, .max_time = 0ms});
  EXPECT_EQ(result.state, store::RunState::budget_spent);
  ASSERT_THAT(result.sizes, SizeIs(sizes.size()));
  for (const SizeResult& size : result.sizes) {
    EXPECT_EQ(size.best->config_json, kFastest);
    EXPECT_EQ(size.evaluated, 2U) << "that and the default";
  }
}

TEST_F(SessionTest, WhatWonOnAnotherDeviceIsTriedAlsoIfItCompilesLast) {
  const std::vector<space::Size> sizes = {{10}, {20}};
  static_cast<void>(run({.sizes = sizes}));
  device.set_device_name("Another device");
  compile_threads = 4;
  device.on_compile = [](const std::string& entry) {
    if (entry == "toy<3,2>") std::this_thread::sleep_for(200ms);
  };
  for (const SizeResult& size : run({.sizes = sizes, .max_time = 0ms}).sizes) {
    EXPECT_EQ(size.best->config_json, kFastest);
  }
}

TEST_F(SessionTest, TheSeedFixesTheOrderOfTrials) {
  const auto order = [this](std::uint64_t seed) {
    static_cast<void>(run({.sizes = {{10}}, .seed = seed, .resume = Resume::no}));
    const std::vector<std::string> all = seen.order();
    return std::vector<std::string>(all.begin() + 2, all.end());  // behind default and incumbent
  };
  static_cast<void>(order(7));  // from here on there is an incumbent
  const std::vector<std::string> first = order(7);
  EXPECT_EQ(order(7), first);
  EXPECT_NE(order(8), first);
}

TEST_F(SessionTest, WhatWonAtAnotherSizeIsTriedAtOnce) {
  static_cast<void>(run({.sizes = {{10}}}));
  static_cast<void>(run({.sizes = {{20}}, .max_evaluations = 2}));
  EXPECT_THAT(seen.order(), ElementsAre(kDefault, kFastest));
}

TEST_F(SessionTest, WhatIsFastestAtOneSizeIsTriedNextAtTheOthers) {
  family = toy::family("N == 20 ? TILE > 2 : TILE*DEPTH <= 12");
  static_cast<void>(run({.sizes = {{10}, {20}}, .strategy = "exhaustive"}));
  std::vector<std::string> at_10;
  for (const Recorder::Step& step : seen.steps) {
    if (step.progress.size == space::Size{10}) at_10.push_back(step.trial.config_json);
  }
  const auto fastest = std::ranges::find(at_10, kFastest);
  const auto before_it_in_the_space = std::ranges::find(at_10, R"({"DEPTH":2,"TILE":2})");
  EXPECT_LT(fastest, before_it_in_the_space);
}

TEST_F(SessionTest, AContenderThatFallsOutOfTheFinalIsDroppedAndTheFinalHeldAgain) {
  device.on_launch = [this](const std::string&) {
    if (!seen.finals.empty()) device.behaviours["toy<3,2>"].failure = Outcome::launch_error;
  };
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_THAT(seen.finals, SizeIs(2)) << "held again";
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::launch_error), 1U);
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::ok), 11U);
  EXPECT_NE(stored_best(), kFastest);
  EXPECT_THAT(stored_trials().back().trial.message, HasSubstr("(in the final)"));
  EXPECT_EQ(result.sizes.front().evaluated, 12U) << "nothing is counted twice";
}

TEST(KernelRecord, HoldsWhatIsNeededToLaunchTheKernelAgain) {
  family::Family family = toy::family();
  family::Kernel& kernel = family.kernels.front();
  kernel.source.headers = {{.name = "tile.cuh", .text = "#pragma once"}};
  const store::KernelRecord record = kernel_record(family, kernel);
  EXPECT_EQ(record.family, "toy");
  EXPECT_EQ(record.kernel, "toy");
  EXPECT_EQ(record.hash, kernel.hash);
  EXPECT_EQ(record.space_text, family.text);
  EXPECT_EQ(record.source_name, "toy.cu");
  EXPECT_EQ(record.source_text, "// never compiled");
  EXPECT_EQ(record.headers_json, R"([{"name":"tile.cuh","text":"#pragma once"}])");
}

}  // namespace
}  // namespace tuner::session
