// SPDX-License-Identifier: Apache-2.0
// What the timing of the cuda backend is made of, as far as it needs no GPU.
#include "tuner/backend/cuda/clock_reader.hpp"
#include "tuner/backend/cuda/nvml.hpp"
#include "tuner/backend/cuda/peak.hpp"

#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

namespace tuner::backend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ClockBetween, IsTheMedianOverMultiprocessorsReadBothTimes) {
  const std::vector<ClockReading> before = {{1000, 0}, {1000, 500}, {0, 0}, {1010, 70}, {1000, 0}};
  const std::vector<ClockReading> after = {
      {51000, 99000}, {51000, 100500}, {51000, 7}, {51010, 99570}, {0, 0}};
  EXPECT_DOUBLE_EQ(*clock_between(before, after, 32), 1990);
}

TEST(ClockBetween, IsAbsentWhenTheTimerIsTooCoarseForTheSpan) {
  const std::vector<ClockReading> before = {{1000, 0}};
  const std::vector<ClockReading> after = {{51000, 100000}};
  EXPECT_TRUE(clock_between(before, after, 500));
  EXPECT_FALSE(clock_between(before, after, 1024));
  EXPECT_FALSE(clock_between({}, {}, 32));
}

TEST(ConditionsOf, TellThePowerLimitFromThrottling) {
  const Conditions idle = conditions_of(0x1);
  EXPECT_FALSE(idle.power_capped);
  EXPECT_FALSE(idle.throttled);
  EXPECT_TRUE(conditions_of(0x4).power_capped);
  EXPECT_FALSE(conditions_of(0x4).throttled);
  for (const unsigned long long reason : {0x8ULL, 0x20ULL, 0x40ULL, 0x80ULL}) {
    EXPECT_TRUE(conditions_of(reason).throttled) << reason;
    EXPECT_FALSE(conditions_of(reason).power_capped) << reason;
  }
  EXPECT_TRUE(conditions_of(0x4 | 0x20).power_capped);
  EXPECT_TRUE(conditions_of(0x4 | 0x20).throttled);
}

TEST(Nvml, KnowsNothingOfAGpuThatIsNotThere) {
  const Conditions conditions = Nvml("GPU-00000000-0000-0000-0000-000000000000").conditions();
  EXPECT_FALSE(conditions.power_capped);
  EXPECT_FALSE(conditions.throttled);
  EXPECT_THAT(conditions.other_processes, IsEmpty());
  EXPECT_TRUE(conditions.hides_processes);
}

TEST(ForeignProcesses, AreNeitherThisOneNorItsChildren) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(pipe_ends[1]);
    static_cast<void>(!::read(pipe_ends[0], &byte, 1));  // until the parent is done
    ::_exit(0);
  }
  const int self = ::getpid();
  constexpr int kInit = 1;
  EXPECT_THAT(foreign_processes({self, child, kInit}).value(), ElementsAre(kInit));
  EXPECT_THAT(foreign_processes({self}).value(), IsEmpty());
  ::close(pipe_ends[1]);
  ::close(pipe_ends[0]);
  ::waitpid(child, nullptr, 0);
}

TEST(ForeignProcesses, AreNotTheProcessThatWaits) {
  const int self = ::getpid(), above = ::getppid();
  constexpr int kStranger = 4'000'000;
  EXPECT_THAT(foreign_processes({self, above}).value(), ElementsAre(above));
  ::setenv("TUNER_PARENT", std::to_string(above).c_str(), 1);
  EXPECT_THAT(foreign_processes({self, above, kStranger}).value(), ElementsAre(kStranger));
  ::setenv("TUNER_PARENT", std::to_string(kStranger).c_str(), 1);  // not above this process
  EXPECT_THAT(foreign_processes({self, kStranger}).value(), ElementsAre(kStranger));
  ::unsetenv("TUNER_PARENT");
}

TEST(ForeignProcesses, AreUnknownWhenTheNumbersAreOfAnotherNamespace) {
  EXPECT_FALSE(foreign_processes({1, 4'000'000})) << "this process is not among them";
}

TEST(FlopsPerCycle, AllowForTensorCoresThatEmulateFloat) {
  EXPECT_NEAR(*flops_per_cycle(90, family::ElementType::f32), 682.7, 0.1)
      << "TF32 2048 / 3, not FP32 256";
  EXPECT_EQ(*flops_per_cycle(89, family::ElementType::f32), 256);
  EXPECT_EQ(*flops_per_cycle(90, family::ElementType::f64), 256);
  EXPECT_EQ(*flops_per_cycle(90, family::ElementType::bf16), 4096);
  EXPECT_EQ(*flops_per_cycle(90, family::ElementType::f16), 4096);
  EXPECT_EQ(*flops_per_cycle(90, family::ElementType::e4m3), 8192);
  EXPECT_EQ(*flops_per_cycle(90, family::ElementType::s32),
            *flops_per_cycle(90, family::ElementType::f32));
  EXPECT_FALSE(flops_per_cycle(990, family::ElementType::f32));
}

}  // namespace
}  // namespace tuner::backend
