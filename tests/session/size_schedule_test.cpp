// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_schedule.hpp"

#include "tests/session/toy.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <gtest/gtest.h>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;

class SizeScheduleTest : public testing::Test {
 protected:
  SizeScheduleTest() {
    for (const space::Size& size : plan_.sizes) {
      board_.add(size, space::Space(kernel_.space, {}, size), plan_.strategy, 0, {}, {});
    }
    schedule_.open();
  }

  /// Judges the next candidate of a search.
  void judge(SizeSearch& search) {
    store::TrialRecord trial;
    trial.time = TimeSummary{.median_ns = 1, .q1_ns = 1, .q3_ns = 1, .min_ns = 1, .samples = 5};
    search.record(search.next().value(), trial);
  }

  toy::Device device_;
  family::Family family_ = toy::family();
  const family::Kernel& kernel_ = family_.kernels.front();
  RunPlan plan_{.sizes = {{10}, {20}}, .strategy = "exhaustive", .max_time = 1000ms};
  MachineCompilers site_{device_.compiler(), 1};
  SizeBoard board_{plan_.sizes, kernel_.space->dims, std::vector{1.0, 1.0}, 1};
  SizeSchedule schedule_{plan_, kernel_, site_, board_};
};

TEST_F(SizeScheduleTest, ASizeIsOverWhenItsShareOfTheTimeIsUsedUp) {
  SizeSearch& search = board_.searches().front();
  for (int i = 0; i < 5; ++i) judge(search);
  schedule_.charge(search, 400ms);
  EXPECT_FALSE(schedule_.is_over(search));
  schedule_.charge(search, 100ms);
  EXPECT_TRUE(schedule_.is_over(search));
}

TEST_F(SizeScheduleTest, FourTrialsAreASizesOwnHoweverLongTheyTake) {
  SizeSearch& search = board_.searches().front();
  judge(search);
  schedule_.charge(search, 5000ms);
  EXPECT_FALSE(schedule_.is_over(search)) << "the previous best has not been tried";
  for (int i = 1; i < 4; ++i) judge(search);
  EXPECT_TRUE(schedule_.is_over(search));
}

}  // namespace
}  // namespace tuner::session
