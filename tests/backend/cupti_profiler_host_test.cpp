// SPDX-License-Identifier: Apache-2.0
// What of counting needs no GPU: CUPTI's host half knows every chip.
#include "tuner/backend/cuda/counters.hpp"
#include "tuner/counters/occupancy.hpp"

#include <gmock/gmock.h>

#include <cuda_occupancy.h>

#include <cupti_result.h>
#include <random>

namespace tuner::backend {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CuptiProfilerHostChips : public testing::TestWithParam<const char*> {};

TEST_P(CuptiProfilerHostChips, HaveEveryCounterAndCollectThemInFourPasses) {
  const auto plan = CounterPlan::make(open_cupti(), GetParam(), {}, counter_metrics());
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_LE(plan->passes(), counters::kMostPasses);
}

INSTANTIATE_TEST_SUITE_P(, CuptiProfilerHostChips,
                         testing::Values("GH100", "TU102", "GA100", "AD102", "GB100", "GB202"));

TEST(CuptiProfilerHost, RefusesAMetricThatDoesNotExist) {
  std::vector<const char*> metrics = counter_metrics();
  metrics.front() = "sm__pipe_fmma_cycles_active.avg.pct_of_peak_sustained_elapsed";
  const auto plan = CounterPlan::make(open_cupti(), "GH100", {}, metrics);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error(), AllOf(HasSubstr("GH100"), HasSubstr("of a newer CUDA Toolkit may")));
}

TEST(CuptiProfilerHost, RefusesAChipThatDoesNotExist) {
  const auto plan = CounterPlan::make(open_cupti(), "GH999", {}, counter_metrics());
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error(), AllOf(HasSubstr("GH999"), HasSubstr("of a newer CUDA Toolkit may")));
}

TEST(CuptiVersion, IsThatOfAToolkit) {
  EXPECT_THAT(cupti_version(*open_cupti()), testing::MatchesRegex("CUPTI 1[0-9]\\.[0-9]\\.[0-9]+"));
}

TEST(WhyNotCounted, NamesTheRemedy) {
  EXPECT_THAT(why_not_counted(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NAME", "call"),
              AllOf(HasSubstr("ERR_NVGPUCTRPERM"),
                    HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("CAP_PERFMON")));
  EXPECT_THAT(why_not_counted(CUPTI_ERROR_HARDWARE_BUSY, "NAME", "call"),
              AllOf(HasSubstr("NAME"), HasSubstr("Nsight Compute"), HasSubstr("dcgmi")));
  EXPECT_THAT(why_not_counted(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "NAME", "call"),
              HasSubstr("a full GPU"));
  EXPECT_EQ(why_not_counted(CUPTI_ERROR_UNKNOWN, "NAME", "call"),
            "CUPTI cannot read counters: NAME (999) from call");
}

TEST(CountersAreRestricted, ToAdministratorsWhereTheDriverSaysSo) {
  const std::string_view only = "RegistryDwords: \"\"\nRmProfilingAdminOnly: 1\nX: 0\n";
  const std::string_view user = "Name:\ttune\nCapEff:\t0000000000000000\nCapBnd:\t1ffffffffff\n";
  EXPECT_TRUE(counters_are_restricted(only, user));
  EXPECT_TRUE(counters_are_restricted(only, "CapEff:\t00000000a80425fb\n")) << "of a container";
  EXPECT_FALSE(counters_are_restricted(only, "CapEff:\t000001ffffffffff\n")) << "root";
  EXPECT_FALSE(counters_are_restricted(only, "CapEff:\t0000004000000000\n")) << "CAP_PERFMON";
  EXPECT_FALSE(counters_are_restricted("RmProfilingAdminOnly: 0\n", user));
  EXPECT_FALSE(counters_are_restricted("", user));
}

/// Blocks on a multiprocessor of an H200 as the toolkit's own calculator says.
int blocks_by_toolkit(const counters::Footprint& launch, const space::DeviceAttributes& device) {
  cudaOccDeviceProp properties;
  properties.computeMajor = 9;
  properties.computeMinor = 0;
  properties.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block);
  properties.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_sm);
  properties.regsPerBlock = static_cast<int>(device.registers_per_block);
  properties.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm);
  properties.warpSize = static_cast<int>(device.warp_size);
  properties.sharedMemPerBlock = static_cast<std::size_t>(device.max_smem_per_block);
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.smem_per_sm);
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.max_smem_per_block_optin);
  properties.reservedSharedMemPerBlock = 1024;
  properties.numSms = static_cast<int>(device.sm_count);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block);
  function.numRegs = static_cast<int>(launch.registers);
  function.sharedSizeBytes = 0;
  function.partitionedGCConfig = PARTITIONED_GC_OFF;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state,
                                                    static_cast<int>(launch.threads),
                                                    static_cast<std::size_t>(launch.shared_bytes)),
            CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

TEST(Occupancy, IsThatOfTheToolkitsCalculator) {
  const space::DeviceAttributes device = space::device_profile("h200")->attributes;
  std::mt19937_64 random(1);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution(least, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const counters::Footprint launch{.threads = draw(1, 1024),
                                     .registers = draw(16, 255),
                                     .shared_bytes = draw(0, device.max_smem_per_block_optin)};
    const auto found = counters::occupancy(launch, device);
    EXPECT_EQ(found ? found->blocks : 0, blocks_by_toolkit(launch, device))
        << launch.threads << " threads, " << launch.registers << " registers, "
        << launch.shared_bytes << " bytes";
  }
}

}  // namespace
}  // namespace tuner::backend
