// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final_round.hpp"

#include "tests/session/session_fixture.hpp"
#include "tests/session/toy.hpp"
#include "tuner/session/trial_record.hpp"
#include "tuner/worker/evaluator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <utility>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using toy::Behaviour;

/// Another process is what a test makes of it.
class MovedEvaluator : public worker::Evaluator {
 public:
  MovedEvaluator(toy::Device& device, const family::Family& family, std::function<void()> move)
      : Evaluator(device, device.compiler(), family, 0), move_(std::move(move)) {}
  void replace_process() override { move_(); }

 private:
  std::function<void()> move_;
};

/// A search at N = 10 whose results are given, and its final round.
class FinalRoundTest : public testing::Test {
 protected:
  explicit FinalRoundTest(family::Family family = toy::family()) : family_(std::move(family)) {}

  /// How a configuration did in the search, and does in the final.
  void screened(std::string_view text, double time_ns, int registers = 0,
                std::size_t shared_bytes = 0) {
    const space::Config config = toy::config(family_, text);
    const std::string entry =
        family::compile_job(kernel_, search_->space(), config).entries.front();
    device_.behaviours[entry].time_ns = time_ns;
    store::TrialRecord trial;
    trial.problem = "10";
    trial.config_json = space::canonical_json(*kernel_.space, config);
    trial.time = TimeSummary{
        .median_ns = time_ns, .q1_ns = time_ns, .q3_ns = time_ns, .min_ns = time_ns, .samples = 20};
    trial.series_ns = time_ns;
    trial.registers = registers;
    trial.shared_bytes = shared_bytes;
    static_cast<void>(search_->record(config, trial));
  }

  void begin(std::optional<std::string_view> incumbent = std::nullopt) {
    PriorKnowledge prior;
    if (incumbent) prior.incumbent = toy::config(family_, *incumbent);
    search_.emplace(space::Size{10},
                    space::Space(kernel_.space, device_.device().attributes, space::Size{10}),
                    "auto", 0, std::move(prior), std::nullopt);
  }

  std::optional<FinalResult> run(const std::function<bool()>& stop = kNeverStop) {
    worker::CompilePool pool(device_.compiler(), 1);
    MovedEvaluator evaluator(device_, family_, [this] { in_another_process_(); });
    store::Store store = store::Store::in_memory();
    const store::Subject subject{.device = device_.device(),
                                 .environment = device_.environment(),
                                 .kernel = kernel_record(family_, kernel_),
                                 .check_hash = family::check_hash(family_, kernel_)};
    store::RunRecord record;
    record.uuid = "final";
    record.problems = {"10"};
    const std::int64_t run = store.begin_run(subject, record);
    FaultGuard guard(store, subject, run, [] { return std::set<std::size_t>{0}; });
    TrialRunner runner({.kernel = kernel_,
                        .pool = pool,
                        .store = store,
                        .guard = guard,
                        .run = run,
                        .seed = 0,
                        .clock = [] { return 0.0; },
                        .covered = [](const verify::Coverage&) {}},
                       0, evaluator);
    return FinalRound(family_, kernel_, pool, evaluator, runner, seen_, stop)
        .run(*search_, {.rounds = {.rounds = 10}, .energy = energy_, .most_finalists = most_},
             [this](const SizeSearch&, const CommittedTrial& committed) {
               failed_.push_back(committed.trial);
             });
  }

  std::string winner(const std::optional<FinalResult>& outcome) const {
    return space::display(*kernel_.space, outcome->winner);
  }
  std::vector<std::string> contenders() const {
    std::vector<std::string> texts;
    for (const space::Config& config : FinalRound::finalists(*search_)) {
      texts.push_back(space::display(*kernel_.space, config));
    }
    return texts;
  }

  const family::Family family_;
  const family::Kernel& kernel_ = family_.kernels.front();
  toy::Device device_;
  std::optional<SizeSearch> search_;
  Recorder seen_;
  EnergyPlan energy_;
  std::size_t most_ = kMostFinalists;                 // finalists
  std::function<void()> in_another_process_ = [] {};  // happens when a process is replaced
  std::vector<store::TrialRecord> failed_;            // in the final round
};

/// A device that tells its energy: at 500 W, and what `watts` says of an entry.
class EnergyTest : public FinalRoundTest {
 protected:
  EnergyTest() {
    energy_.choice = EnergyChoice::always;
    device_.watts_of = [this](const backend::Work& work) {
      const auto* launch = std::get_if<backend::Launch>(&work);
      const auto found =
          launch == nullptr ? watts_.end() : watts_.find(device_.symbol(launch->kernel));
      return found == watts_.end() ? 500.0 : found->second;
    };
  }

  static const store::FinalistRecord& finalist(const FinalResult& outcome,
                                               std::string_view config_json) {
    return *std::ranges::find(outcome.finalists, config_json, &store::FinalistRecord::config_json);
  }

  std::map<std::string, double> watts_;  // by entry
};

TEST_F(EnergyTest, OfFinalistsAndTheLibraryIsMeasured) {
  begin();
  screened("TILE=3,DEPTH=2", 500);
  screened("", 1000);
  device_.library_ns = 750;
  watts_["toy<3,2>"] = 600;
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  const auto& energy = finalist(*outcome, R"({"DEPTH":2,"TILE":3})").energy;
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules, 600 * 500e-9);
  EXPECT_EQ(energy->windows, 3);
  EXPECT_EQ(energy->watts, 600);
  EXPECT_EQ(energy->idle_watts, 50);
  EXPECT_DOUBLE_EQ(*outcome->best.joules, 600 * 500e-9);
  EXPECT_DOUBLE_EQ(finalist(*outcome, "").energy->joules, 500 * 750e-9);
  EXPECT_EQ(device_.energy_windows, 9);
  EXPECT_GT(outcome->energy_s, 9 * 2);
}

TEST_F(EnergyTest, BreaksATieInTime) {
  begin("TILE=4,DEPTH=2");
  screened("TILE=4,DEPTH=2", 500);
  screened("TILE=3,DEPTH=2", 501);
  screened("TILE=2,DEPTH=2", 530);
  watts_ = {{"toy<3,2>", 480}, {"toy<2,2>", 200}};
  EXPECT_EQ(winner(run()), "TILE=3 DEPTH=2") << "what takes longer is no tie";
  watts_ = {};
  EXPECT_EQ(winner(run()), "TILE=4 DEPTH=2") << "with equal power, the one before";
}

TEST_F(EnergyTest, IsOfFewWhereTimeIsShortAndOfNoneWhereThereIsTooLittle) {
  begin();
  for (const char* config : {"TILE=3,DEPTH=2", "TILE=4,DEPTH=2", "TILE=3,DEPTH=1"}) {
    screened(config, 500);
  }
  screened("", 1000);
  energy_ = {.choice = EnergyChoice::when_short, .most_s = 60};
  const auto outcome = run();
  EXPECT_EQ(device_.energy_windows, 3 * 3) << "two finalists and the library";
  EXPECT_FALSE(finalist(*outcome, R"({"DEPTH":1,"TILE":2})").energy);
  device_.energy_windows = 0;
  energy_.most_s = 20;
  EXPECT_FALSE(run()->best.joules);
  energy_.choice = EnergyChoice::never;
  EXPECT_FALSE(run()->best.joules);
  EXPECT_EQ(device_.energy_windows, 0);
}

TEST_F(EnergyTest, IsNotMeasuredWhereTheDeviceDoesNotTell) {
  begin();
  screened("", 1000);
  device_.watts_of = nullptr;
  const auto outcome = run();
  EXPECT_FALSE(outcome->best.joules);
  EXPECT_EQ(outcome->energy_s, 0);
  EXPECT_EQ(device_.energy_windows, 0);
}

/// All others are slower than TILE=4 in single launches, and faster back to back.
class SeriesTest : public FinalRoundTest {
 protected:
  SeriesTest() {
    device_.rested_share = 1;
    device_.series_share_of = [this](const backend::Work& work) {
      const auto* launch = std::get_if<backend::Launch>(&work);
      const auto found =
          launch == nullptr ? shares_.end() : shares_.find(device_.symbol(launch->kernel));
      return found == shares_.end() ? 1.0 : found->second;
    };
    begin();
    screened("TILE=4,DEPTH=2", 500);
    screened("TILE=3,DEPTH=2", 520);
    screened("TILE=2,DEPTH=2", 600);
    screened("TILE=1,DEPTH=2", 630);
  }

  static std::optional<double> sustained_ns(const FinalResult& outcome, std::string_view config) {
    return std::ranges::find(outcome.finalists, config, &store::FinalistRecord::config_json)
        ->sustained_ns;
  }

  std::map<std::string, double> shares_ = {
      {"toy<3,2>", 0.9}, {"toy<2,2>", 0.7}, {"toy<1,2>", 0.1}};  // by entry, of the time alone
};

TEST_F(SeriesTest, BackToBackDecidesAmongThoseNearTheFastest) {
  device_.library_ns = 2000;
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=2 DEPTH=2") << "what is 26 % slower alone is not near";
  EXPECT_DOUBLE_EQ(outcome->best.time.median_ns, 600) << "times stay those of single launches";
  EXPECT_EQ(outcome->best.rested_ns, 600) << "of the winner, which was not the fastest alone";
  EXPECT_EQ(outcome->best.sustained_ns, 420);
  EXPECT_EQ(sustained_ns(*outcome, ""), 2000) << "the library, beside them";
  EXPECT_EQ(sustained_ns(*outcome, R"({"DEPTH":2,"TILE":3})"), 468);
  EXPECT_EQ(sustained_ns(*outcome, R"({"DEPTH":2,"TILE":1})"), std::nullopt);
  EXPECT_DOUBLE_EQ(*outcome->best.ratio_to_library, 2000.0 / 420) << "back to back";
  EXPECT_EQ(outcome->best.library_ns, 2000);
  EXPECT_EQ(device_.series, 30 * 4);
  EXPECT_EQ(device_.loaded_series, 0);
}

TEST_F(SeriesTest, WhatIsFasterInAnotherProcessIsATie) {
  shares_ = {{"toy<3,2>", 0.92}, {"toy<2,2>", 0.9}};  // 500, 478 and 540 ns
  int processes = 1;
  in_another_process_ = [&] { shares_["toy<4,2>"] = ++processes == 2 ? 0.94 : 1; };
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=3 DEPTH=2");
  EXPECT_EQ(outcome->best.ties, 1) << "TILE=4 took 470 ns in the second process";
  EXPECT_GE(processes, 2);
}

TEST_F(SeriesTest, MoreProcessesTimeWhatMayBeAsFastAsTheWinner) {
  int processes = 1;
  in_another_process_ = [&] { ++processes; };
  for (const auto& [library_ns, expected] :
       {std::pair(760.0, 1), std::pair(740.0, 5), std::pair(340.0, 5), std::pair(330.0, 1)}) {
    SCOPED_TRACE(library_ns);
    shares_ = {};
    begin();
    screened("TILE=3,DEPTH=2", 500);
    device_.library_ns = library_ns;
    processes = 1;
    EXPECT_DOUBLE_EQ(*run()->best.ratio_to_library, library_ns / 500);
    EXPECT_EQ(processes, expected);
  }
}

TEST_F(SeriesTest, ATieBackToBackIsWonByTheIncumbent) {
  shares_ = {};
  begin("TILE=3,DEPTH=2");
  screened("TILE=4,DEPTH=2", 500);
  screened("TILE=3,DEPTH=2", 504);
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=3 DEPTH=2");
  EXPECT_EQ(outcome->best.ties, 1);
}

TEST_F(SeriesTest, UnderLoadDecidesWherePowerLimitsTheClock) {
  device_.rested_share = 0.9;
  int processes = 1;
  in_another_process_ = [&] { ++processes; };
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=3 DEPTH=2") << "what is 6 % slower alone is not near";
  EXPECT_EQ(device_.loaded_series, 3 * 2 + 2 * 4) << "the library too";
  EXPECT_EQ(sustained_ns(*outcome, R"({"DEPTH":2,"TILE":4})"), 500) << "of two rounds";
  EXPECT_EQ(processes, 2);
  EXPECT_EQ(device_.series, 0);
  EXPECT_EQ(outcome->best.sustained_ns, 520 * 0.9);
}

TEST_F(SeriesTest, OneSampleUnderLoadIsNotEnoughToDropTheIncumbent) {
  device_.rested_share = 0.9;
  shares_ = {};
  begin("TILE=3,DEPTH=2");
  screened("TILE=4,DEPTH=2", 500);
  screened("TILE=3,DEPTH=2", 500);
  shares_["toy<3,2>"] = 1;
  device_.on_launch = [&](const std::string& entry) {
    if (entry == "toy<3,2>") shares_[entry] = device_.loaded_series <= 3 ? 1.2 : 1;
  };
  EXPECT_EQ(winner(run()), "TILE=3 DEPTH=2");
}

TEST_F(SeriesTest, OneSampleUnderLoadDropsNoContender) {
  device_.rested_share = 0.9;
  shares_["toy<4,2>"] = 0.9;
  device_.on_launch = [&](const std::string& entry) {
    if (entry == "toy<4,2>") shares_[entry] = device_.loaded_series <= 3 ? 1.2 : 0.9;
  };
  EXPECT_EQ(winner(run()), "TILE=4 DEPTH=2");
}

TEST_F(SeriesTest, AnIncumbentThatTiesOnlyByNoiseIsNotKept) {
  device_.rested_share = 0.9;
  begin("TILE=3,DEPTH=2");
  screened("TILE=4,DEPTH=2", 500);
  screened("TILE=3,DEPTH=2", 500);
  device_.on_launch = [&](const std::string& entry) {
    if (entry == "toy<3,2>") shares_[entry] = device_.loaded_series <= 3 ? 0.99 : 1.03;
  };
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=4 DEPTH=2");
  EXPECT_EQ(outcome->best.ties, 1);
}

TEST_F(SeriesTest, AClockThatRisesUnderLoadIsNotLimited) {
  device_.rested_share = 1.1;
  EXPECT_EQ(winner(run()), "TILE=2 DEPTH=2");
  EXPECT_EQ(device_.loaded_series, 0);
}

TEST_F(SeriesTest, EnergyIsMeasuredOfTheFastestBackToBack) {
  energy_ = {.choice = EnergyChoice::when_short, .most_s = 60};
  device_.watts_of = [](const backend::Work&) { return 500.0; };
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=2 DEPTH=2") << "the third of single launches";
  EXPECT_TRUE(outcome->best.joules);
}

TEST_F(SeriesTest, InterruptedSeriesDecideNothing) {
  EXPECT_EQ(winner(run([&] { return device_.series >= 8; })), "TILE=4 DEPTH=2");
}

TEST_F(SeriesTest, WhatFailsInASeriesBecomesAFailedTrial) {
  device_.on_launch = [this](const std::string& entry) {
    if (device_.series >= 8 && entry == "toy<2,2>") {
      device_.behaviours[entry].failure = Outcome::launch_error;
    }
  };
  EXPECT_EQ(winner(run()), "TILE=3 DEPTH=2");
  ASSERT_THAT(failed_, SizeIs(1));
  EXPECT_EQ(failed_.front().config_json, R"({"DEPTH":2,"TILE":2})");
}

TEST_F(FinalRoundTest, TheFastestWinsAndRatiosAreThoseOfTimesSideBySide) {
  begin();
  screened("TILE=3,DEPTH=2", 500);
  screened("", 1000);
  device_.library_ns = 750;
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(winner(outcome), "TILE=3 DEPTH=2");
  const store::BestRecord& best = outcome->best;
  EXPECT_EQ(best.problem, "10");
  EXPECT_EQ(best.config_json, R"({"DEPTH":2,"TILE":3})");
  EXPECT_DOUBLE_EQ(best.time.median_ns, 500);
  EXPECT_EQ(best.time.samples, 10);
  EXPECT_EQ(best.default_ns, 1000);
  EXPECT_EQ(best.ratio_to_default, 2.0);
  EXPECT_EQ(best.library_ns, 750);
  EXPECT_EQ(best.ratio_to_library, 1.5);
  EXPECT_EQ(best.ratio_to_library_low, 1.5);
  EXPECT_EQ(best.ratio_to_library_high, 1.5);
  EXPECT_EQ(best.ties, 0);
  EXPECT_DOUBLE_EQ(best.flops, 2000);
  EXPECT_DOUBLE_EQ(best.bytes, 1200);
}

TEST_F(FinalRoundTest, ListsWhoTookPartFastestFirst) {
  begin("TILE=4,DEPTH=1");
  screened("TILE=3,DEPTH=2", 500);
  screened("TILE=4,DEPTH=1", 600);
  screened("", 1000);
  device_.library_ns = 750;
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  std::vector<std::string> roles;
  std::vector<double> ratios;
  for (const store::FinalistRecord& finalist : outcome->finalists) {
    roles.push_back(finalist.role);
    ratios.push_back(finalist.ratio_to_best);
    EXPECT_EQ(finalist.samples_ns.size(), 10U) << finalist.role;
    EXPECT_EQ(finalist.config_json.empty(), finalist.role == "library");
  }
  EXPECT_THAT(roles, ElementsAre("candidate", "incumbent", "library", "default"));
  EXPECT_THAT(ratios, ElementsAre(1.0, 1.2, 1.5, 2.0));
}

TEST_F(FinalRoundTest, TheLibraryTakesPartByTheFastestOfItsAlgorithmsToo) {
  begin();
  screened("TILE=3,DEPTH=2", 500);
  device_.library_ns = 750;
  device_.algorithms = {"slow", "fast", "middle"};
  device_.algorithm_ns = {{"slow", 900}, {"fast", 600}, {"middle", 700}};
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->best.ratio_to_library, 1.5) << "of what it chooses itself";
  EXPECT_EQ(outcome->best.library_algorithm, "fast");
  EXPECT_EQ(outcome->best.ratio_to_library_tuned, 1.2);
  std::vector<std::string> roles;
  for (const store::FinalistRecord& it : outcome->finalists) roles.push_back(it.role);
  EXPECT_THAT(roles, ElementsAre("candidate", "library_tuned", "library"));
  EXPECT_EQ(outcome->finalists[1].config_json, "");
}

TEST_F(FinalRoundTest, AnAlgorithmThatIsNoFasterThanTheLibrarysOwnChoiceIsNotKept) {
  begin();
  screened("TILE=3,DEPTH=2", 500);
  device_.library_ns = 750;
  device_.algorithms = {"the same"};
  device_.algorithm_ns = {{"the same", 750}};
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->finalists, SizeIs(3));
  EXPECT_EQ(outcome->best.library_algorithm, "");
  EXPECT_EQ(outcome->best.ratio_to_library_tuned, std::nullopt);
}

TEST_F(FinalRoundTest, TheFastestAndTheLibraryAreTimedRestedAndSustained) {
  begin();
  screened("TILE=3,DEPTH=2", 500);
  screened("TILE=3,DEPTH=1", 510);
  screened("", 1000);
  device_.library_ns = 750;
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  ASSERT_THAT(outcome->finalists, SizeIs(4));
  EXPECT_EQ(outcome->finalists[0].rested_ns, 250);
  EXPECT_EQ(outcome->finalists[0].sustained_ns, 500);
  EXPECT_EQ(outcome->finalists[1].rested_ns, std::nullopt);
  EXPECT_EQ(outcome->finalists[1].sustained_ns, 510) << "from its series under load";
  EXPECT_EQ(outcome->finalists[2].role, "library");
  EXPECT_EQ(outcome->finalists[2].rested_ns, std::nullopt);
  EXPECT_EQ(outcome->finalists[2].sustained_ns, 750);
  EXPECT_EQ(outcome->finalists[3].sustained_ns, std::nullopt) << "twice as long as the fastest";
  EXPECT_EQ(outcome->best.rested_ns, 250);
  EXPECT_EQ(outcome->best.sustained_ns, 500);
}

TEST_F(FinalRoundTest, OfATieTheIncumbentWins) {
  begin("TILE=4,DEPTH=3");
  screened("TILE=1,DEPTH=1", 1000, 16, 64);
  screened("TILE=4,DEPTH=3", 1009, 255, 4096);
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(winner(outcome), "TILE=4 DEPTH=3");
  EXPECT_DOUBLE_EQ(outcome->best.time.median_ns, 1009) << "its own time, not the fastest's";
  EXPECT_EQ(outcome->best.ties, 1);
}

TEST_F(FinalRoundTest, BeyondATieTheFastestWins) {
  begin("TILE=4,DEPTH=3");
  screened("TILE=1,DEPTH=1", 1000, 255, 4096);
  screened("TILE=4,DEPTH=3", 1011);
  EXPECT_EQ(winner(run()), "TILE=1 DEPTH=1");
}

TEST_F(FinalRoundTest, OfATieWithoutIncumbentTheSmallerFootprintWinsThenTheOrderOfTheSpace) {
  begin();
  screened("TILE=1", 1000, 32, 64);
  screened("TILE=3", 1005, 31, 128);
  EXPECT_EQ(winner(run()), "TILE=3 DEPTH=1") << "fewer registers come first";
  begin();
  screened("TILE=1", 1000, 32, 64);
  screened("TILE=3", 1005, 32, 32);
  EXPECT_EQ(winner(run()), "TILE=3 DEPTH=1") << "then less shared memory";
  begin();
  screened("TILE=3", 1000, 32, 64);
  screened("TILE=1", 1005, 32, 64);
  EXPECT_EQ(winner(run()), "TILE=1 DEPTH=1") << "then what comes first in the space";
}

TEST_F(FinalRoundTest, OfATieWithoutIncumbentTheDefaultWinsThoughItsFootprintIsLarger) {
  begin();
  screened("TILE=1", 1000, 16, 0);
  screened("", 1005, 255, 4096);
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=2 DEPTH=1");
  EXPECT_DOUBLE_EQ(outcome->best.ratio_to_default.value(), 1.0);
}

TEST_F(FinalRoundTest, NoPreferenceIsWorthMoreThanATieOnANoisyDevice) {
  device_.rested_share = 1;
  begin();
  screened("TILE=1", 1000, 32, 64);
  screened("TILE=3", 1000, 16, 32);
  int launches = 0;
  const auto noisy = [&](const std::string& entry) {
    if (entry == "toy<3,1>") device_.behaviours[entry].time_ns = ++launches % 5 < 2 ? 1000 : 1400;
  };
  device_.on_launch = noisy;
  const auto outcome = run();
  EXPECT_EQ(winner(outcome), "TILE=1 DEPTH=1");
  EXPECT_EQ(outcome->best.ties, 1) << "its interval begins at 1";
  begin("TILE=3");
  screened("TILE=1", 1000, 32, 64);
  screened("TILE=3", 1000, 16, 32);
  EXPECT_EQ(winner(run()), "TILE=1 DEPTH=1") << "nor is having been the best";
}

/// The final round of a space of 22 configurations.
class LargerSpaceTest : public FinalRoundTest {
 protected:
  LargerSpaceTest()
      : FinalRoundTest(
            toy::family_with("[1, 2, 3, 4]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]")) {}
};

TEST_F(LargerSpaceTest, TheBestSixteenTakePartAndTheDefaultAndTheIncumbentHoweverSlow) {
  begin("TILE=4,DEPTH=3");
  screened("", 9000);
  screened("TILE=4,DEPTH=3", 8000);
  std::vector<std::string> expected;
  for (const std::string_view text :
       {"TILE=1", "TILE=3", "TILE=4", "TILE=5", "TILE=6", "TILE=7", "TILE=8", "TILE=9", "TILE=10",
        "TILE=11", "TILE=12", "TILE=1,DEPTH=2", "TILE=2,DEPTH=2", "TILE=3,DEPTH=2",
        "TILE=4,DEPTH=2", "TILE=5,DEPTH=2", "TILE=6,DEPTH=2"}) {
    screened(text, 1000 + 10 * static_cast<double>(expected.size()));
    expected.push_back(space::display(*kernel_.space, toy::config(family_, text)));
  }
  expected.pop_back();  // the seventeenth
  expected.insert(expected.end(), {"TILE=4 DEPTH=3", "TILE=2 DEPTH=1"});
  EXPECT_EQ(contenders(), expected);
}

TEST_F(FinalRoundTest, FewerTakePartWhereTheyTakeLongButAtLeastThreeAndTheSeeds) {
  begin("TILE=4,DEPTH=3");
  screened("", 900e6);
  screened("TILE=4,DEPTH=3", 800e6);
  for (const std::string_view text :
       {"TILE=1,DEPTH=1", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3", "TILE=2,DEPTH=2", "TILE=2,DEPTH=3"}) {
    screened(text, 45e6);
  }
  EXPECT_THAT(contenders(), SizeIs(4 + 2)) << "a fifth would make 225 ms";
  for (const std::string_view text :
       {"TILE=1,DEPTH=1", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3", "TILE=2,DEPTH=2", "TILE=2,DEPTH=3"}) {
    screened(text, 165e6);
  }
  EXPECT_THAT(contenders(), SizeIs(3 + 2));
}

TEST_F(FinalRoundTest, WhatFailedInTheSearchDoesNotTakePart) {
  begin();
  screened("TILE=3", 1000);
  store::TrialRecord failed;
  failed.outcome = Outcome::wrong_result;
  static_cast<void>(search_->record(toy::config(family_, ""), failed));
  const auto outcome = run();
  EXPECT_THAT(contenders(), ElementsAre("TILE=3 DEPTH=1"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->best.default_ns, std::nullopt);
  EXPECT_EQ(outcome->best.ratio_to_default, std::nullopt);
}

TEST_F(FinalRoundTest, StoppedBeforeItsFirstRoundLeavesTheFastestOfTheSearch) {
  begin();
  screened("TILE=3", 500);
  screened("", 1000);
  const auto outcome = run([] { return true; });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(winner(outcome), "TILE=3 DEPTH=1");
  EXPECT_DOUBLE_EQ(outcome->best.time.median_ns, 500);
  EXPECT_EQ(outcome->best.ratio_to_library, std::nullopt);
  EXPECT_TRUE(outcome->finalists.empty());
}

TEST_F(FinalRoundTest, StoppedBeforeThereAreEnoughRoundsForAnIntervalIsNoFinal) {
  begin("");
  screened("TILE=3", 500);
  screened("", 1000);
  int asked = 0;
  EXPECT_TRUE(run([&] { return ++asked > 6; })->finalists.empty());
  asked = 0;
  EXPECT_FALSE(run([&] { return ++asked > 7; })->finalists.empty());
}

TEST_F(FinalRoundTest, AFinalistThatFailsBecomesAFailedTrialAndTheOthersAreTimedAgain) {
  begin();
  screened("TILE=3", 500);
  screened("", 1000);
  device_.behaviours["toy<3,1>"].failure = Outcome::launch_error;
  const auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(winner(result), space::display(*kernel_.space, toy::config(family_, "")));
  ASSERT_THAT(failed_, SizeIs(1));
  EXPECT_EQ(failed_.front().config_json, R"({"DEPTH":1,"TILE":3})");
  EXPECT_EQ(failed_.front().outcome, Outcome::launch_error);
  EXPECT_FALSE(failed_.front().time);
  EXPECT_FALSE(failed_.front().series_ns) << "a failure has no times";
  EXPECT_THAT(seen_.finals, ElementsAre(2, 1));
}

TEST_F(FinalRoundTest, WithoutAFinalistLeftThereIsNoResult) {
  begin();
  screened("TILE=3", 500);
  device_.behaviours["toy<3,1>"].failure = Outcome::launch_error;
  EXPECT_FALSE(run());
}

}  // namespace
}  // namespace tuner::session
