// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/measurement.hpp"

#include "tests/support/scripted_backend.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace tuner::measure {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::ScriptedBackend;
using testing_support::work_number;

/// Finds every launch right, but for those after which it is told otherwise.
class FakeAudit : public LaunchAudit {
 public:
  backend::Work before_launch() override {
    ++prepared;
    return work_number(0);
  }
  Expected<void, Failure> after_launch() override { return found(wrong_launch); }
  std::vector<backend::Work> before_series() override {
    return std::vector<backend::Work>(3, work_number(1));
  }
  Expected<void, Failure> after_series(std::int64_t runs) override {
    series_runs = runs;
    return found(wrong_series);
  }
  void before_repetition() override { ++repetitions; }
  Expected<void, Failure> after_repetition() override { return found(wrong_repetition); }

  int prepared = 0, repetitions = 0;
  std::int64_t series_runs = 0;
  bool wrong_launch = false, wrong_series = false, wrong_repetition = false;

 private:
  static Expected<void, Failure> found(bool wrong) {
    if (!wrong) return {};
    return Unexpected(Failure{Outcome::wrong_result, "wrong while timed"});
  }
};

class ScreenTest : public testing::Test {
 protected:
  Expected<Measurement, Failure> screened(ScriptedBackend& backend,
                                          std::optional<double> best_ns = std::nullopt) {
    return screen(backend, work_number(1), audit_,
                  {.pause = std::chrono::milliseconds(0), .back_to_back = true}, best_ns, watch_);
  }
  std::size_t samples_at(double time_ns, std::optional<double> best_ns) {
    ScriptedBackend backend([=](const backend::Work&) { return time_ns; });
    return screened(backend, best_ns)->samples_ns.size();
  }

  ClockWatch watch_{2000};
  FakeAudit audit_;
};

TEST_F(ScreenTest, TakesAllSamplesOfACandidateThatMayBeTheBest) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  const auto measurement = screened(backend, 95.0);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->samples_ns.size(), 20U);
  EXPECT_DOUBLE_EQ(measurement->time->median_ns, 100.0);
  EXPECT_EQ(measurement->discarded, 0);
  EXPECT_FALSE(measurement->power_capped);
}

TEST_F(ScreenTest, StopsAfterTheProbeOfAHopelessOne) {
  EXPECT_EQ(samples_at(111, 100), 5U);
  EXPECT_EQ(samples_at(109, 100), 20U);
  EXPECT_EQ(samples_at(151, std::nullopt), 20U);
}

/// Samples spread evenly over ± `share` of 100 ns, in no order.
auto spread(double share) {
  return [share, call = 0](const backend::Work&) mutable {
    const double phase = std::fmod(0.618 * ++call, 1.0);
    return 100.0 * (1 + share * (2 * phase - 1));
  };
}

TEST_F(ScreenTest, ANoisyProbeMustBeFartherOffToBeHopeless) {
  // Its fastest sample 99.2, its spread 1.5 %: from a factor of 1.1 · 1.046 on.
  const auto samples_beside = [&](double share, double best_ns) {
    ScriptedBackend backend(spread(share));
    return screened(backend, best_ns)->samples_ns.size();
  };
  EXPECT_EQ(samples_beside(0.01, 84), 5U);
  EXPECT_EQ(samples_beside(0.01, 87), 20U);
  // At most 1.5, whatever the noise.
  EXPECT_EQ(samples_beside(0.2, 50), 5U);
  EXPECT_EQ(samples_beside(0.2, 60), 20U);
}

TEST_F(ScreenTest, TimesOnlyContendersWithTheirDataInTheCache) {
  ScriptedBackend backend([](const backend::Work&) { return 109.0; });
  EXPECT_EQ(screened(backend, 100.0)->hot_ns, 10.9);
  EXPECT_EQ(screened(backend, 99.0)->hot_ns, std::nullopt);
  EXPECT_EQ(backend.hot_timings, 1);
}

TEST_F(ScreenTest, TimesInSeriesWhatMayWinThere) {
  const auto series_beside = [&](double time_ns, double best_ns) {
    ScriptedBackend backend([=](const backend::Work&) { return time_ns; });
    backend.series_share_of = [share = 0.5](const backend::Work&) mutable {
      return share = share == 0.5 ? 0.9 : share == 0.9 ? 0.6 : 0.5;
    };
    const auto series_ns = screened(backend, best_ns)->series_ns;
    EXPECT_EQ(backend.series, series_ns ? 3 : 0);
    EXPECT_EQ(backend.copies, series_ns ? 3U : 0U);
    return series_ns;
  };
  EXPECT_EQ(series_beside(100, 100), 60) << "the median";
  EXPECT_EQ(series_beside(124, 100), 0.6 * 124) << "though its probe was enough";
  EXPECT_EQ(series_beside(126, 100), std::nullopt);
  EXPECT_EQ(series_beside(1.1e6, 1.1e6), std::nullopt) << "it is long";
}

TEST_F(ScreenTest, WhatIsUpdatedInPlaceIsNotTimedBackToBack) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  const auto measurement =
      screen(backend, work_number(1), audit_, {.back_to_back = false}, std::nullopt, watch_);
  EXPECT_EQ(measurement->series_ns, std::nullopt);
  EXPECT_EQ(measurement->hot_ns, std::nullopt);
  EXPECT_EQ(backend.series, 0);
  EXPECT_EQ(audit_.repetitions, 0);
}

TEST_F(ScreenTest, EveryTimedLaunchIsPrepared) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  EXPECT_EQ(screened(backend)->samples_ns.size(), 20U);
  EXPECT_EQ(audit_.prepared, 21) << "and the warm-up";
  EXPECT_EQ(audit_.series_runs, 3);
  EXPECT_EQ(audit_.repetitions, 1);
  EXPECT_EQ(backend.unprepared_timings, 0);
}

TEST_F(ScreenTest, AWrongLaunchInAnyKindOfTimingIsAFailure) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  for (bool FakeAudit::*const kind :
       {&FakeAudit::wrong_launch, &FakeAudit::wrong_series, &FakeAudit::wrong_repetition}) {
    audit_ = {};
    audit_.*kind = true;
    const auto measurement = screened(backend);
    ASSERT_FALSE(measurement);
    EXPECT_EQ(measurement.error().outcome, Outcome::wrong_result);
  }
}

TEST_F(ScreenTest, DoesNotCountTheWarmUp) {
  int call = 0;
  ScriptedBackend backend([&](const backend::Work&) { return ++call == 1 ? 1e9 : 100.0; });
  EXPECT_DOUBLE_EQ(screened(backend)->time->q3_ns, 100.0);
}

TEST_F(ScreenTest, ANoisyContenderGetsMoreSamplesUntilItsMedianIsKnown) {
  ScriptedBackend calm(spread(0.01));
  EXPECT_EQ(screened(calm)->samples_ns.size(), 20U);
  // MAD 1.5 %: 1.2533 · 1.4826 · 0.015 / √n reaches 0.5 % at n = 31.
  ScriptedBackend noisy(spread(0.03));
  EXPECT_EQ(screened(noisy)->samples_ns.size(), 36U);
}

TEST_F(ScreenTest, MoreSamplesEndWhenTheNoiseIsStableOrThereAreEnough) {
  ScriptedBackend stable(spread(0.2));
  EXPECT_EQ(screened(stable)->samples_ns.size(), 68U) << "four alike estimates of the noise";
  int call = 0;
  ScriptedBackend worsening([&](const backend::Work&) {
    ++call;
    return 100.0 + (call % 2 == 0 ? 0.5 : -0.5) * call;
  });
  EXPECT_EQ(screened(worsening)->samples_ns.size(), 100U);
}

TEST_F(ScreenTest, ANoisyOneThatIsNoContenderGetsNoMore) {
  ScriptedBackend backend(spread(0.2));
  EXPECT_EQ(screened(backend, 85.0)->samples_ns.size(), 20U);
}

TEST_F(ScreenTest, ALongContenderGetsNoMoreSamplesThanTimeAllows) {
  ScriptedBackend backend(
      [draw = spread(0.2)](const backend::Work& work) mutable { return 2e5 * draw(work); });
  EXPECT_EQ(screened(backend)->samples_ns.size(), 10U) << "of 20 ms each";
}

TEST_F(ScreenTest, AVeryLongOneEndsWithItsProbe) {
  ScriptedBackend backend([](const backend::Work&) { return 2e8; });
  EXPECT_EQ(screened(backend)->samples_ns.size(), 5U);
}

TEST_F(ScreenTest, SamplesAtAFallenClockAreTakenAgain) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  int sample = 0;
  backend.clock = [&] { return ++sample % 4 == 0 ? 1500.0 : 2000.0; };
  const auto measurement = screened(backend);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->samples_ns.size(), 20U);
  EXPECT_EQ(measurement->discarded, sample - 20);
  EXPECT_GE(measurement->discarded, 5);
  EXPECT_EQ(measurement->clock_mhz, 2000.0);
}

TEST_F(ScreenTest, SamplesHeldDownByThePowerLimitCountAndAreMarked) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  backend.clock = [] { return 1500.0; };
  backend.now.power_capped = true;
  const auto measurement = screened(backend);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->discarded, 0);
  EXPECT_TRUE(measurement->power_capped);
  EXPECT_EQ(measurement->clock_mhz, 1500.0);
  EXPECT_EQ(watch_.baseline_mhz(), 2000) << "another candidate may need less power";
}

TEST_F(ScreenTest, HeatBesidesThePowerLimitStillDiscards) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  backend.now = {.power_capped = true, .throttled = true};
  int sample = 0;
  backend.clock = [&] { return ++sample <= 2 ? 1500.0 : 2000.0; };
  EXPECT_EQ(screened(backend)->discarded, 2);
}

TEST_F(ScreenTest, AClockThatFellForGoodBecomesTheBaseline) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  backend.clock = [] { return 1500.0; };
  const auto measurement = screened(backend);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->samples_ns.size(), 20U);
  EXPECT_EQ(measurement->discarded, 20) << "more than three times the probe's five";
  EXPECT_EQ(watch_.baseline_mhz(), 1500);
}

TEST_F(ScreenTest, ALastMissingSampleIsNotWaitedForLong) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  int sample = 0;
  backend.clock = [&] { return ++sample <= 19 ? 2000.0 : 1900.0; };
  const auto measurement = screened(backend);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->samples_ns.size(), 20U);
  EXPECT_EQ(measurement->clock_mhz, 1900.0) << "all at one clock";
  EXPECT_EQ(measurement->discarded, 19 + 5) << "four pauses";
}

TEST_F(ScreenTest, AClockThatNeverHoldsIsUnstable) {
  ScriptedBackend backend([](const backend::Work&) { return 100.0; });
  double clock = 2000;
  backend.clock = [&] { return clock *= 0.98; };
  const auto measurement = screened(backend);
  ASSERT_FALSE(measurement);
  EXPECT_EQ(measurement.error().outcome, Outcome::unstable);
  EXPECT_THAT(measurement.error().message, AllOf(HasSubstr("96 %"), HasSubstr("nvidia-smi")));
}

TEST_F(ScreenTest, FailsAsTheDeviceDoes) {
  ScriptedBackend backend([](const backend::Work&) -> Expected<double, Failure> {
    return Unexpected(Failure{Outcome::crashed, "illegal address"});
  });
  const auto measurement = screened(backend);
  ASSERT_FALSE(measurement);
  EXPECT_EQ(measurement.error().outcome, Outcome::crashed);
}

}  // namespace
}  // namespace tuner::measure
