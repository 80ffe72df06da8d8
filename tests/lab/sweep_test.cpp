// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/sweep.hpp"

#include "tests/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/evaluator.hpp"

#include <gmock/gmock.h>

namespace tuner::lab {
namespace {

namespace toy = session::toy;

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

/// The toy family, whose work is 2·N³, at N = 10, 20 and 40: the library, the default toy<2,1>, and
/// toy<3,2>.
class SweepTest : public testing::Test {
 protected:
  SweepTest() {
    plan_.sizes = {{10}, {20}, {40}};
    const family::Kernel* const kernel = &family_.kernels.front();
    plan_.contenders = {
        {.name = "library"},
        {.name = "toy",
         .choose = [=](const space::Size&) { return SweepChoice{.kernel = kernel}; }},
        {.name = "other", .choose = [=, this](const space::Size&) {
           return SweepChoice{.kernel = kernel, .config = toy::config(family_, "TILE=3,DEPTH=2")};
         }}};
  }

  SweepResult run(const std::function<bool()>& stop = [] { return false; }) {
    worker::Evaluator evaluator(device_, device_.compiler(), family_, 0);
    return run_sweep(
        family_, plan_, evaluator, device_.compiler(),
        [this](const SweepTime& timing) { heard_.push_back(timing.contender); }, stop);
  }
  /// "toy at 0", for what was timed.
  static std::vector<std::string> timed(const SweepResult& result) {
    std::vector<std::string> all;
    for (const SweepTime& timing : result.times) {
      if (timing.time) all.push_back(timing.contender + " at " + std::to_string(timing.size));
    }
    return all;
  }

  family::Family family_ = toy::family("TILE*DEPTH < 12");
  toy::Device device_;
  SweepPlan plan_;
  std::vector<std::string> heard_;
};

TEST_F(SweepTest, TimesEachContenderAtEachSize) {
  device_.library_ns = 300;
  device_.behaviours["toy<3,2>"].time_ns = 200;
  const SweepResult result = run();
  EXPECT_THAT(timed(result),
              ElementsAre("library at 0", "toy at 0", "other at 0", "library at 1", "toy at 1",
                          "other at 1", "library at 2", "toy at 2", "other at 2"));
  EXPECT_EQ(result.times[0].time->median_ns, 300);
  EXPECT_EQ(result.times[1].time->median_ns, 1000);
  EXPECT_EQ(result.times[2].time->median_ns, 200);
  EXPECT_EQ(result.times[2].config_json, R"({"DEPTH":2,"TILE":3})");
  EXPECT_EQ(heard_.size(), 9U);
  EXPECT_TRUE(result.transfers.empty());
  EXPECT_THAT(device_.compiled(), ElementsAre("toy<2,1>", "toy<3,2>")) << "once for all sizes";
}

TEST_F(SweepTest, LeavesOutWhoWouldTakeTooLong) {
  device_.library_ns = 100;
  device_.behaviours["toy<2,1>"].time_ns = 2e6;
  device_.behaviours["toy<3,2>"].time_ns = 2e6;
  plan_.most_run_ns = 5e6;  // eight times the work is expected to take eight times 2 ms
  const SweepResult result = run();
  EXPECT_THAT(timed(result), ElementsAre("library at 0", "toy at 0", "other at 0", "library at 1",
                                         "library at 2"));
  ASSERT_EQ(result.skipped.size(), 4U) << "two contenders at two sizes";
  EXPECT_EQ(result.skipped[0].contender, "toy");
  EXPECT_EQ(result.skipped[0].size, 1U);
  EXPECT_EQ(result.skipped[0].why, "expected to take 16.0 ms, longer than the limit of 5.00 ms");
}

TEST_F(SweepTest, OverheadIsNotExtrapolated) {
  plan_.sizes = {{1}, {2}, {40}};  // the work grows 64,000 times, the time of 1000 ns does not
  plan_.most_run_ns = 5000;
  const SweepResult result = run();
  EXPECT_EQ(timed(result).size(), 9U);
  EXPECT_TRUE(result.skipped.empty());
}

TEST_F(SweepTest, ASizeThatDoesNotFitIsSkippedAndTheOthersAreKept) {
  plan_.sizes = {{10}, {20000}, {20}};  // 20,000 x 20,000: more than the device's 1 GiB
  const SweepResult result = run();
  EXPECT_EQ(timed(result).size(), 6U);
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped[0].contender, "");
  EXPECT_EQ(result.skipped[0].size, 1U);
  EXPECT_THAT(result.skipped[0].why, testing::HasSubstr("GiB of memory"));
  EXPECT_THAT(result.exact_results, ElementsAre(Not(""), "", Not("")));
}

TEST_F(SweepTest, AnExternalFailureCostsAContenderOneSize) {
  device_.on_launch = [](const std::string& entry) {
    if (entry == "toy<2,1>") throw Error(ErrorCode::failure, "not enough device memory");
  };
  const SweepResult result = run();
  EXPECT_THAT(timed(result), ElementsAre("library at 0", "other at 0", "library at 1", "other at 1",
                                         "library at 2", "other at 2"));
  EXPECT_EQ(result.times[1].outcome, Outcome::launch_error);
  EXPECT_EQ(result.times[1].message, "not enough device memory");
}

TEST_F(SweepTest, WhoCannotRunIsSkippedWithTheReason) {
  plan_.contenders[2].choose = [this](const space::Size&) {
    return SweepChoice{.kernel = &family_.kernels.front(),
                       .config = toy::config(family_, "TILE=4,DEPTH=3")};
  };
  const SweepResult result = run();
  EXPECT_EQ(timed(result).size(), 6U);
  ASSERT_EQ(result.skipped.size(), 3U);
  EXPECT_EQ(result.skipped[0].contender, "other");
  EXPECT_THAT(result.skipped[0].why, testing::HasSubstr("a limit"));
}

TEST_F(SweepTest, AFailureIsAnOutcomeAndTheOthersGoOn) {
  device_.behaviours["toy<2,1>"].failure = Outcome::wrong_result;
  device_.behaviours["toy<3,2>"].failure = Outcome::compile_error;
  const SweepResult result = run();
  EXPECT_THAT(timed(result), ElementsAre("library at 0", "library at 1", "library at 2"));
  EXPECT_EQ(result.times[1].outcome, Outcome::wrong_result);
  EXPECT_EQ(result.times[2].outcome, Outcome::compile_error);
  EXPECT_EQ(result.times[2].message, "toy<3,2> does not compile");
}

TEST_F(SweepTest, EachContenderIsTimedWithTransfers) {
  using enum measure::HostPlace;
  device_.behaviours["toy<3,2>"].time_ns = 200;
  plan_.sizes = {{10}};
  plan_.placements = {{.name = "copied", .places = {pageable, pinned, pageable}},
                      {.name = "mapped", .places = {mapped, mapped, mapped}}};
  const SweepResult result = run();
  std::vector<std::string> transfers;
  for (const SweepTransfer& each : result.transfers)
    transfers.push_back(each.contender + " " + each.placement);
  EXPECT_THAT(transfers, ElementsAre("library copied", "library mapped", "toy copied", "toy mapped",
                                     "other copied", "other mapped"));
  EXPECT_EQ(result.transfers[2].times->work_ns, 1000);
  EXPECT_EQ(result.transfers[5].times->work_ns, 200);
  EXPECT_THAT(result.exact_results, ElementsAre(Not("")));
}

TEST_F(SweepTest, StopsBetweenTheStepsAndKeepsWhatItHas) {
  const SweepResult result = run([this] { return heard_.size() >= 2; });
  EXPECT_THAT(timed(result), ElementsAre("library at 0", "toy at 0"));
}

TEST(Leads, ChangeWhereTheCurvesCross) {
  const SweepCurve cpu{.name = "CPU", .times_ns = {1, 2, 8, 64}};
  const SweepCurve gpu{.name = "GPU", .times_ns = {5, 5, 6, 7}};
  EXPECT_THAT(faster_stretches(cpu, gpu),
              ElementsAre(FasterStretch{"CPU", 0, 1}, FasterStretch{"GPU", 2, 3}));
  EXPECT_THAT(faster_stretches(gpu, cpu),
              ElementsAre(FasterStretch{"CPU", 0, 1}, FasterStretch{"GPU", 2, 3}));
}

TEST(Leads, MayChangeMoreThanOnceOrNever) {
  const SweepCurve one{.name = "one", .times_ns = {1, 3, 1}};
  const SweepCurve other{.name = "other", .times_ns = {2, 2, 2}};
  const SweepCurve slow{.name = "slow", .times_ns = {9, 9, 9}};
  EXPECT_THAT(faster_stretches(one, other),
              ElementsAre(FasterStretch{"one", 0, 0}, FasterStretch{"other", 1, 1},
                          FasterStretch{"one", 2, 2}));
  EXPECT_THAT(faster_stretches(one, slow), ElementsAre(FasterStretch{"one", 0, 2}));
}

TEST(Leads, AreNotClaimedOfTies) {
  const SweepCurve one{.name = "one", .times_ns = {100, 104, 100, 100, 50}};
  const SweepCurve other{.name = "other", .times_ns = {104, 100, 104, 200, 100}};
  EXPECT_THAT(faster_stretches(one, other),
              ElementsAre(FasterStretch{"neither", 0, 2}, FasterStretch{"one", 3, 4}));
  SweepCurve noisy = one, others = other;
  noisy.quartiles_ns = {{}, {}, {}, std::pair(90.0, 160.0), std::pair(45.0, 60.0)};
  others.quartiles_ns = {{}, {}, {}, std::pair(150.0, 210.0), std::pair(80.0, 110.0)};
  EXPECT_THAT(faster_stretches(noisy, others),
              ElementsAre(FasterStretch{"neither", 0, 3}, FasterStretch{"one", 4, 4}));
}

TEST(Leads, AreNotClaimedWhereOneWasNotTimed) {
  const SweepCurve one{.name = "one", .times_ns = {1, std::nullopt, 1, std::nullopt}};
  const SweepCurve other{.name = "other", .times_ns = {2, 2, 2, 2}};
  EXPECT_THAT(faster_stretches(one, other),
              ElementsAre(FasterStretch{"one", 0, 0}, FasterStretch{"one", 2, 2}));
  EXPECT_THAT(faster_stretches(one, SweepCurve{.name = "none", .times_ns = {}}), IsEmpty());
}

}  // namespace

}  // namespace tuner::lab
