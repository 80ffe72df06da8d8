// SPDX-License-Identifier: Apache-2.0
// Counters of kernels whose work is known in advance.
#include "cuda_fixture.hpp"

#include <cstdlib>

namespace tuner::backend {
namespace {

/// Each of a block's warps stores 1 word a thread into shared memory and loads 8, `STRIDE` apart:
/// 32 threads of a stride of 32 words share one bank.
const std::string kShared = R"(
template <int STRIDE> __global__ void shared_traffic(float* out) {
  __shared__ volatile float words[1024];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += words[(threadIdx.x * STRIDE + i) % 1024];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}
)";
constexpr std::uint32_t kBlocks = 8192;

class CudaCountingTest : public CudaTest {
 protected:
  counters::Counters count(const Work& work, const std::optional<Work>& before = {}) {
    const auto reading = backend().count(work, before);
    if (!reading) throw Error(ErrorCode::failure, reading.error().message);
    if (!reading->counters) throw Error(ErrorCode::failure, reading->problem);
    return *reading->counters;
  }
};

TEST_F(CudaCountingTest, RequestsAndConflictsOfSharedMemoryAreExact) {
  const Buffer out(backend(), kBlocks * 32 * sizeof(float));
  const auto counters_of = [&](const std::string& entry) {
    const LoadedKernel kernel = build(kShared, entry);
    return count(Launch{.kernel = kernel.id(),
                        .steps = {{.geometry = {.grid = {kBlocks, 1, 1}, .block = {32, 1, 1}},
                                   .arguments = {out.id()}}}});
  };
  const counters::Counters without = counters_of("shared_traffic<1>");
  EXPECT_EQ(without.shared_stores, kBlocks);
  EXPECT_EQ(without.shared_loads, 8 * kBlocks);
  // The counter includes cycles in which shared memory waits for another user of the data pipe:
  // 2.3 % of these requests on an H200.
  EXPECT_LT(without.bank_conflicts, 0.05 * (without.shared_loads + without.shared_stores));
  const counters::Counters with = counters_of("shared_traffic<32>");
  EXPECT_EQ(with.shared_loads, 8 * kBlocks);
  EXPECT_NEAR(with.bank_conflicts, 31.0 * 8 * kBlocks, 0.02 * 31 * 8 * kBlocks);
  EXPECT_GE(with.shared_wavefronts, 32.0 * 8 * kBlocks);
  EXPECT_GT(with.l1_percent, without.l1_percent);
}

TEST_F(CudaCountingTest, ACopyIsBoundByMemoryAndCountedFromAColdCache) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  constexpr std::int64_t kCount = std::int64_t{1} << 27;
  const Buffer x(backend(), kCount * sizeof(float)), y(backend(), kCount * sizeof(float));
  const auto launch = [&](std::int64_t n) {
    return Launch{.kernel = axpy.id(),
                  .steps = {{.geometry = {.grid = {static_cast<std::uint32_t>(n / 256), 1, 1},
                                          .block = {256, 1, 1}},
                             .arguments = {1.0F, x.id(), y.id(), n}}}};
  };
  const counters::Counters large = count(launch(kCount));
  EXPECT_GT(large.dram_percent, 60);
  EXPECT_LT(large.dram_percent, 100);
  EXPECT_GT(large.waiting_for_memory, large.waiting_for_barrier);
  EXPECT_EQ(large.shared_loads, 0);
  // 8 MiB fit into the cache of every GPU that this runs on: a warm one would not go to memory.
  EXPECT_GT(count(launch(1 << 20)).dram_percent, 5);
}

TEST_F(CudaCountingTest, WhatIsCountedIsTheRunWithoutTheTimeAroundIt) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  constexpr std::int64_t kCount = std::int64_t{1} << 24;  // about 50 µs
  const Buffer x(backend(), kCount * sizeof(float)), y(backend(), kCount * sizeof(float));
  const Launch launch{.kernel = axpy.id(),
                      .steps = {{.geometry = {.grid = {kCount / 256, 1, 1}, .block = {256, 1, 1}},
                                 .arguments = {1.0F, x.id(), y.id(), kCount}}}};
  const auto samples = backend().time(launch, {.warm_up = 2, .samples = 9});
  ASSERT_TRUE(samples);
  const counters::Counters counted = count(launch);
  RecordProperty("busy_percent", static_cast<int>(counted.busy_percent));
  RecordProperty("counted_ns", static_cast<int>(counted.elapsed_ns));
  RecordProperty("run_ns", static_cast<int>(samples->back().time_ns));
  EXPECT_LE(counted.busy_percent, 100.5);
  EXPECT_NEAR(counted.elapsed_ns, samples->back().time_ns, 0.1 * samples->back().time_ns);
}

TEST_F(CudaCountingTest, EveryPassBeginsWithTheWorkBefore) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  Buffer x = upload(std::vector<float>(256, 1.0F));
  Buffer y = upload(std::vector<float>(256, 7.0F));
  const auto launch = [&](float a, const Buffer& from) {
    return Launch{.kernel = axpy.id(),
                  .steps = {{.geometry = {.grid = {1, 1, 1}, .block = {256, 1, 1}},
                             .arguments = {a, from.id(), y.id(), std::int64_t{256}}}}};
  };
  // y − y and then + x: what was there before does not matter.
  static_cast<void>(count(launch(1.0F, x), launch(-1.0F, y)));
  EXPECT_THAT(download<float>(y), ::testing::Each(1.0F));
}

}  // namespace
}  // namespace tuner::backend
