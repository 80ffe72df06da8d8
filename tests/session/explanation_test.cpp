// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/explanation.hpp"

#include "tests/session/session_fixture.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/trial_record.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const auto kNever = [] { return false; };

/// Trials of the toy family that took so many nanoseconds; none: it failed.
std::map<std::string, store::TrialRecord> trials_of(
    const family::Family& family,
    const std::vector<std::pair<std::string_view, std::optional<double>>>& times) {
  std::map<std::string, store::TrialRecord> trials;
  for (const auto& [text, time_ns] : times) {
    store::TrialRecord trial;
    trial.config_json =
        space::canonical_json(*family.kernels.front().space, toy::config(family, text));
    trial.outcome = time_ns ? Outcome::ok : Outcome::wrong_result;
    if (time_ns) trial.time = TimeSummary{.median_ns = *time_ns};
    trials[trial.config_json] = trial;
  }
  return trials;
}

class TimedNeighboursTest : public testing::Test {
 protected:
  std::vector<std::string> neighbours(
      const std::vector<std::pair<std::string_view, std::optional<double>>>& times,
      std::size_t most) {
    const space::SpaceDefinition& definition = *family_.kernels.front().space;
    std::vector<std::string> shown;
    for (const TimedNeighbour& near : timed_neighbours(
             definition, toy::config(family_, "TILE=3,DEPTH=2"), trials_of(family_, times), most)) {
      shown.push_back(definition.parameters[near.parameter].name + " of " +
                      space::display(definition, near.config));
    }
    return shown;
  }

  family::Family family_ = toy::family();
};

TEST_F(TimedNeighboursTest, AreTheFastestOfEachParameterFirst) {
  EXPECT_THAT(
      neighbours({{"TILE=3,DEPTH=2", 500},
                  {"TILE=1,DEPTH=2", 700},
                  {"TILE=2,DEPTH=2", 600},
                  {"TILE=4,DEPTH=2", 800},
                  {"TILE=3,DEPTH=1", 900},
                  {"TILE=2,DEPTH=1", 550}},
                 3),
      ElementsAre("TILE of TILE=2 DEPTH=2", "DEPTH of TILE=3 DEPTH=1", "TILE of TILE=1 DEPTH=2"))
      << "what differs in two parameters is no neighbour";
}

TEST_F(TimedNeighboursTest, EndedOk) {
  EXPECT_THAT(neighbours({{"TILE=2,DEPTH=2", std::nullopt}, {"TILE=4,DEPTH=2", 800}}, 6),
              ElementsAre("TILE of TILE=4 DEPTH=2"));
  EXPECT_THAT(neighbours({}, 6), IsEmpty());
}

TEST_F(TimedNeighboursTest, AreOfTheSpaceAsItIs) {
  auto trials = trials_of(family_, {{"TILE=4,DEPTH=2", 800}});
  store::TrialRecord gone = trials.begin()->second;
  gone.config_json = R"({"DEPTH":2,"TILE":9})";
  trials[gone.config_json] = gone;
  EXPECT_EQ(timed_neighbours(*family_.kernels.front().space, toy::config(family_, "TILE=3,DEPTH=2"),
                             trials, 6)
                .size(),
            1U);
}

/// toy<3,2> is twice as fast as all others.
class ExplanationTest : public testing::Test {
 protected:
  ExplanationTest() {
    device_.behaviours["toy<3,2>"] = {
        .time_ns = 500, .failure = {}, .resources = {.registers = 40}};
    device_.reading_of = [](double time_ns) {
      return counters::CounterReading{.counters = counters::Counters{.elapsed_ns = time_ns}};
    };
  }

  Explanation explanation() {
    worker::Evaluator evaluator(device_, device_.compiler(), family_, 0);
    return explain(family_.kernels.front(),
                   {.size = {10},
                    .best = toy::config(family_, "TILE=3,DEPTH=2"),
                    .trials = trials_,
                    .rounds = {.rounds = 10}},
                   evaluator, device_.compiler(), kNever);
  }

  static std::vector<std::string> roles(const Explanation& explanation) {
    std::vector<std::string> all;
    for (const ExplainedContender& contender : explanation.contenders) {
      all.push_back(contender.role);
    }
    return all;
  }

  family::Family family_ = toy::family();
  toy::Device device_;
  std::map<std::string, store::TrialRecord> trials_ =
      trials_of(family_, {{"TILE=2,DEPTH=2", 1000}, {"TILE=3,DEPTH=3", 1000}});
};

TEST_F(ExplanationTest, TimesAndCountsTheBestItsNeighboursTheDefaultAndTheLibrary) {
  device_.library_ns = 400;
  const Explanation found = explanation();
  ASSERT_THAT(roles(found), ElementsAre("best", "neighbour", "neighbour", "default", "library"));
  EXPECT_EQ(found.counters_problem, "");
  const std::vector<double> times = {500, 1000, 1000, 1000, 400};
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(found.contenders[i].timed->time.median_ns, times[i]);
    EXPECT_EQ(found.contenders[i].profile.counters->elapsed_ns, times[i]);
    EXPECT_EQ(found.contenders[i].timed->ratio_to_best, times[i] / 500);
  }
  EXPECT_EQ(found.contenders[0].profile.footprint->registers, 40);
  EXPECT_EQ(found.contenders[0].profile.footprint->threads, 32);
  EXPECT_FALSE(found.contenders[4].profile.footprint);
}

TEST_F(ExplanationTest, OnlyWhatIsNotKnownToBeRightIsVerified) {
  static_cast<void>(explanation());
  EXPECT_LT(device_.launches["toy<2,2>"], device_.launches["toy<2,1>"]) << "a known neighbour";
}

TEST_F(ExplanationTest, WithoutCountersAllElseIsThere) {
  device_.reading_of = [](double) {
    return counters::CounterReading{.counters = std::nullopt, .problem = "none here"};
  };
  const Explanation found = explanation();
  EXPECT_EQ(found.counters_problem, "none here");
  ASSERT_THAT(roles(found), ElementsAre("best", "neighbour", "neighbour", "default", "library"));
  for (const ExplainedContender& contender : found.contenders) {
    EXPECT_TRUE(contender.timed);
    EXPECT_FALSE(contender.profile.counters);
  }
}

TEST_F(ExplanationTest, AContenderThatFailsIsLeftOutAndItsTrialSaysWhy) {
  device_.behaviours["toy<3,3>"].failure = Outcome::launch_error;
  device_.library_failure = Outcome::unstable;
  const Explanation found = explanation();
  ASSERT_THAT(roles(found), ElementsAre("best", "neighbour", "neighbour", "default"));
  EXPECT_EQ(found.library_problem, "the library fails");
  const ExplainedContender& failed = found.contenders[2];
  EXPECT_EQ(failed.trial.outcome, Outcome::launch_error);
  EXPECT_FALSE(failed.timed);
  EXPECT_FALSE(failed.profile.counters);
  EXPECT_EQ(found.contenders[3].profile.counters->elapsed_ns, 1000) << "counted as it was timed";
}

TEST_F(ExplanationTest, KnowsTheRooflineAtTheClockAndTheInstructionsOfWhatItCompiled) {
  device_.clock = [] { return 2000.0; };
  worker::Evaluator evaluator(device_, device_.compiler(), family_, 0);
  const Explanation found =
      explain(family_.kernels.front(),
              {.size = {10},
               .best = toy::config(family_, "TILE=3,DEPTH=2"),
               .trials = trials_,
               .rounds = {.rounds = 10},
               .roofline = {.flops = 2000, .bytes = 1200},
               .flops_per_cycle = 128,
               .instructions =
                   [](const backend::Binary& binary) -> std::optional<counters::InstructionMix> {
                 if (binary.symbols.front() != "toy<3,2>") return std::nullopt;
                 return counters::InstructionMix{.fma = 5};
               }},
              evaluator, device_.compiler(), kNever);
  EXPECT_EQ(found.roofline,
            (counters::Roofline{.flops = 2000, .bytes = 1200, .peak_flops_per_s = 128 * 2e9}));
  EXPECT_EQ(found.contenders[0].profile.instructions->fma, 5);
  EXPECT_FALSE(found.contenders[1].profile.instructions);
}

TEST_F(ExplanationTest, IsStoredBesideTheRunThatFoundTheBestOfThatSource) {
  store::Store store = store::Store::in_memory();
  const family::Kernel& kernel = family_.kernels.front();
  const Explanation found = explanation();
  const auto stored = [&] {
    return store_explanation(store, family_, kernel, device_.device(), {10}, found);
  };
  EXPECT_FALSE(stored()) << "there is no best";
  const store::Subject subject{.device = device_.device(),
                               .environment = device_.environment(),
                               .kernel = kernel_record(family_, kernel),
                               .check_hash = {}};
  store::RunRecord run;
  run.uuid = "explained";
  run.problems = {"10"};
  const std::int64_t id = store.begin_run(subject, run);
  store::BestRecord best;
  best.problem = "10";
  best.config_json = found.contenders.front().trial.config_json;
  best.time = found.contenders.front().timed->time;
  store::record_lone_final(store, id, best);
  ASSERT_TRUE(stored());
  const auto record = store.explanation(id, "10");
  ASSERT_TRUE(record);
  ASSERT_EQ(record->contenders.size(), found.contenders.size());
  EXPECT_EQ(record->contenders[1].role, "neighbour");
  EXPECT_EQ(record->contenders[1].parameter, "TILE");
  EXPECT_EQ(record->contenders[1].timed->median_ns, 1000);
  EXPECT_EQ(record->contenders[0].profile.counters->elapsed_ns, 500);
  EXPECT_EQ(record->contenders[0].profile.footprint->registers, 40);
}

TEST_F(ExplanationTest, WithoutTheBestThereIsNothingToExplain) {
  device_.behaviours["toy<3,2>"].failure = Outcome::wrong_result;
  try {
    static_cast<void>(explanation());
    FAIL() << "explained";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("wrong_result"));
  }
}

}  // namespace
}  // namespace tuner::session
