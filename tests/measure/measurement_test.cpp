// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/measurement.hpp"

#include "tests/support/scripted_backend.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

using testing_support::ScriptedBackend;
using testing_support::work_number;

TEST(Screen, TakesAllSamplesOfACandidateThatMayBeTheBest) {
  ScriptedBackend backend([](const Work&) { return 100.0; });
  const auto measurement = screen(backend, work_number(1), ScreenPlan{}, 90.0);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->samples_ns.size(), 20U);
  EXPECT_DOUBLE_EQ(measurement->summary.median, 100.0);
}

TEST(Screen, StopsAfterTheProbeOfAHopelessOne) {
  ScriptedBackend backend([](const Work&) { return 151.0; });
  EXPECT_EQ(screen(backend, work_number(1), ScreenPlan{}, 100.0)->samples_ns.size(), 5U);
  EXPECT_EQ(screen(backend, work_number(1), ScreenPlan{}, std::nullopt)->samples_ns.size(), 20U);
}

TEST(Screen, DoesNotCountTheWarmUp) {
  int call = 0;
  ScriptedBackend backend([&](const Work&) { return ++call == 1 ? 1e9 : 100.0; });
  EXPECT_DOUBLE_EQ(screen(backend, work_number(1), ScreenPlan{}, std::nullopt)->summary.q3, 100.0);
}

TEST(Screen, FailsAsTheDeviceDoes) {
  ScriptedBackend backend([](const Work&) -> Expected<double, Failure> {
    return Unexpected(Failure{Outcome::crashed, "illegal address"});
  });
  const auto measurement = screen(backend, work_number(1), ScreenPlan{}, std::nullopt);
  ASSERT_FALSE(measurement);
  EXPECT_EQ(measurement.error().outcome, Outcome::crashed);
}

}  // namespace
}  // namespace tuner
