// SPDX-License-Identifier: Apache-2.0
// What is concluded from what NVML says, here a fake one.
#include "tuner/backend/cuda/nvml.hpp"

#include "tests/backend/fake_nvml.hpp"
#include "tuner/backend/cuda/device_query.hpp"

#include <gmock/gmock.h>

#include <array>
#include <unistd.h>

namespace tuner::backend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() { fake_nvml = {.processes = {self_}}; }

  unsigned self_ = static_cast<unsigned>(::getpid());
};

TEST_F(NvmlTest, TellsTheEnergyOfAWholeGpu) {
  fake_nvml.millijoules = 1'234'500;
  EXPECT_EQ(Nvml("GPU-1").joules(), 1234.5);
  EXPECT_FALSE(Nvml("GPU-2").joules()) << "not known";
  fake_nvml.is_slice = true;
  EXPECT_FALSE(Nvml("GPU-1").joules()) << "the counter is that of all slices";
}

TEST_F(NvmlTest, TellsWhatLimitsTheClock) {
  EXPECT_EQ(Nvml("GPU-1").conditions().clock_limit, ClockLimit{}) << "it does not tell";
  fake_nvml.max_clock_mhz = 1980;
  fake_nvml.power_limit_mw = 700'000;
  const ClockLimit limit{.max_clock_mhz = 1980, .power_limit_w = 700};
  EXPECT_EQ(Nvml("GPU-1").conditions().clock_limit, limit);
  EXPECT_EQ(Nvml("GPU-2").conditions().clock_limit, ClockLimit{}) << "not known";
  fake_nvml.is_slice = true;
  EXPECT_EQ(Nvml("GPU-1").conditions().clock_limit, limit) << "that of the whole GPU";
}

TEST_F(NvmlTest, NamesOtherProcesses) {
  EXPECT_THAT(Nvml("GPU-1").conditions().other_processes, IsEmpty());
  EXPECT_FALSE(Nvml("GPU-1").conditions().hides_processes);
  fake_nvml.processes = {1, self_};
  EXPECT_THAT(Nvml("GPU-1").conditions().other_processes, ElementsAre(1));
}

TEST_F(NvmlTest, SaysThatItCannotSeeThemInAContainer) {
  fake_nvml.processes = {4711};  // of another PID namespace, else this one were there
  EXPECT_TRUE(Nvml("GPU-1").conditions().hides_processes);
  EXPECT_THAT(Nvml("GPU-1").conditions().other_processes, IsEmpty());
  fake_nvml.processes = {};
  EXPECT_TRUE(Nvml("GPU-1").conditions().hides_processes);
}

TEST_F(NvmlTest, SaysThatItCannotSeeThemWhereItIsNotTold) {
  fake_nvml.tells_processes = false;
  EXPECT_TRUE(Nvml("GPU-1").conditions().hides_processes);
  EXPECT_TRUE(Nvml("GPU-2").conditions().hides_processes) << "a device that NVML does not know";
}

TEST_F(NvmlTest, AsksTheGpuOfAMigSliceForItsClock) {
  fake_nvml = {.uuid = "MIG-1", .is_slice = true, .processes = {self_}, .reasons = 0x4};
  EXPECT_TRUE(Nvml("MIG-1").conditions().power_capped);
  EXPECT_FALSE(Nvml("MIG-1").conditions().hides_processes);
}

TEST(UuidText, IsThatOfAMigSliceWhereTheNameIs) {
  std::array<char, 16> bytes{};
  bytes[0] = '\x12';
  bytes[15] = '\xab';
  EXPECT_EQ(uuid_text(bytes, "NVIDIA H100 80GB HBM3"), "GPU-12000000-0000-0000-0000-0000000000ab");
  EXPECT_EQ(uuid_text(bytes, "NVIDIA H100 80GB HBM3 MIG 1g.10gb"),
            "MIG-12000000-0000-0000-0000-0000000000ab");
}

}  // namespace
}  // namespace tuner::backend
