// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/plausibility.hpp"

#include <gmock/gmock.h>

namespace tuner::measure {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr backend::Peak kPeak{.flops_per_s = 60e12, .bytes_per_s = 4800e9};

TEST(Implausible, AboveThePeakOfArithmetic) {
  const Demand demand{.flops = 2.0 * 4096 * 4096 * 4096,  // 137.4 GFLOP
                      .bytes = 0,
                      .type = ElementType::bf16};
  EXPECT_FALSE(implausible(demand, 2.29e6, kPeak, 0)) << "60.0 TFLOP/s";
  EXPECT_FALSE(implausible(demand, 2.19e6, kPeak, 0)) << "1.046 of the peak";
  const auto failure = implausible(demand, 1e6, kPeak, 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::implausible);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("1000.000 µs"), HasSubstr("137.4 TFLOP/s"),
                                      HasSubstr("the device's peak of __nv_bfloat16 is 60.0")));
}

TEST(Implausible, AboveThePeakOfMemoryBeyondWhatTheCacheHolds) {
  const Demand demand{.flops = 0, .bytes = 1e9, .type = ElementType::f32};
  const auto failure = implausible(demand, 100e3, kPeak, 0);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message,
              AllOf(HasSubstr("10000.0 GB/s"), HasSubstr("peak of memory is 4800.0 GB/s")));
  EXPECT_FALSE(implausible(demand, 100e3, kPeak, 600e6)) << "600 MB may never leave the cache";
  EXPECT_FALSE(implausible(demand, 100e3, kPeak, 2e9));
}

TEST(Implausible, NothingIsWhereThePeakIsUnknown) {
  EXPECT_FALSE(
      implausible({.flops = 1e18, .bytes = 1e18, .type = ElementType::f32}, 1, backend::Peak{}, 0));
}

Timing timing(double cold_ns, std::optional<double> hot_ns, std::optional<double> series_ns = {}) {
  Timing made;
  made.time = TimeSummary{
      .median_ns = cold_ns, .q1_ns = cold_ns, .q3_ns = cold_ns, .min_ns = cold_ns, .samples = 20};
  made.hot_ns = hot_ns;
  made.series_ns = series_ns;
  return made;
}

TEST(Contradiction, IsAColdLaunchMuchFasterThanALaunchInASeries) {
  const auto failure = contradiction(timing(85e3, 640e3, 700e3));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::implausible);
  EXPECT_THAT(failure->message, AllOf(HasSubstr("85.000 µs"), HasSubstr("640.000 µs"),
                                      HasSubstr("7.5 times as long")));
  EXPECT_TRUE(contradiction(timing(85e3, 640e3)));
  EXPECT_TRUE(contradiction(timing(85e3, std::nullopt, 640e3)));
}

TEST(Contradiction, IsNotWhatClocksUnderLoadMake) {
  EXPECT_FALSE(contradiction(timing(100, 290)));
  EXPECT_FALSE(contradiction(timing(100, 900, 290))) << "the hot time alone was disturbed";
}

TEST(Contradiction, IsNoneWhereOneIsNotTimedOrColdTakesLonger) {
  EXPECT_FALSE(contradiction(timing(100, std::nullopt)));
  EXPECT_FALSE(contradiction({}));
  EXPECT_FALSE(contradiction(timing(4000, 200, 300)));
}

}  // namespace
}  // namespace tuner::measure
