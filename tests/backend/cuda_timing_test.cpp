// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"

#include <algorithm>

namespace tuner {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::SizeIs;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class CudaTimingTest : public CudaTest {
 protected:
  [[nodiscard]] std::vector<double> time(const Work& work) {
    const auto times = backend().time(work, {.warm_up = 2, .samples = 25});
    if (!times) throw Error(ErrorCode::failure, times.error().message);
    std::vector<double> times_ns;
    for (const Sample& sample : *times) times_ns.push_back(sample.time_ns);
    return times_ns;
  }
};

TEST_F(CudaTimingTest, TakesTheSamplesAskedForAndMoreTimeForMoreWork) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  const Buffer x(backend(), std::size_t{1} << 28);
  const Buffer y(backend(), std::size_t{1} << 28);
  backend().fill(x.id(), 0, x.size_bytes());
  backend().fill(y.id(), 0, y.size_bytes());
  const auto time_axpy = [&](std::int64_t n) {
    return time(Launch{
        .kernel = axpy.id(),
        .geometry = {.grid = {static_cast<std::uint32_t>(n / 256), 1, 1}, .block = {256, 1, 1}},
        .arguments = {1.0F, x.id(), y.id(), n}});
  };
  const auto small = time_axpy(1 << 18);
  const auto large = time_axpy(1 << 26);
  EXPECT_THAT(small, SizeIs(25));
  EXPECT_THAT(small, Each(Gt(0.0)));
  EXPECT_GT(median(large), 4 * median(small));
  // 768 MiB move: no memory of the next years does it in 20 µs, and the oldest GPU that runs this
  // program in 20 ms.
  EXPECT_GT(median(large), 20e3);
  EXPECT_LT(median(large), 20e6);
}

TEST_F(CudaTimingTest, CountsNoLaunchLatency) {
  const LoadedKernel nothing = build("__global__ void nothing() {}", "nothing");
  EXPECT_LT(median(time(Launch{.kernel = nothing.id(), .geometry = {}, .arguments = {}})), 10e3);
}

/// The first of several rounds over 16 MiB reads from memory, the others from the cache; without
/// a flush all would read from the cache.
TEST_F(CudaTimingTest, TimesFromAColdCache) {
  if (backend().device().attributes.l2_bytes < (std::int64_t{32} << 20)) {
    GTEST_SKIP() << "the L2 cache does not hold 16 MiB for certain";
  }
  const LoadedKernel reader = build(R"(
    __global__ void read(const float4* x, float4* out, int rounds) {
      float4 sum = {};
      for (int round = 0; round < rounds; ++round) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (1 << 20);
             i += gridDim.x * blockDim.x) {
          const float4 value = __ldcg(x + i);
          sum.x += value.x; sum.y += value.y; sum.z += value.z; sum.w += value.w;
        }
      }
      if (sum.x + sum.y + sum.z + sum.w != 0) out[0] = sum;
    })",
                                    "read");
  const Buffer x(backend(), std::size_t{16} << 20);
  const Buffer out(backend(), 16);
  backend().fill(x.id(), 0, x.size_bytes());
  const auto sms = static_cast<std::uint32_t>(backend().device().attributes.sm_count);
  const auto time_rounds = [&](std::int32_t rounds) {
    return median(time(Launch{.kernel = reader.id(),
                              .geometry = {.grid = {4 * sms, 1, 1}, .block = {256, 1, 1}},
                              .arguments = {x.id(), out.id(), rounds}}));
  };
  const double first_ns = time_rounds(1) - time_rounds(0);
  const double later_ns = (time_rounds(11) - time_rounds(1)) / 10;
  EXPECT_GT(first_ns, 1.2 * later_ns);
}

TEST_F(CudaTimingTest, TimesTheLibraryByTheSamePath) {
  constexpr std::int64_t kLarge = 2048;
  const Buffer a(backend(), kLarge * kLarge * sizeof(float));
  const Buffer c(backend(), a.size_bytes());
  backend().fill(a.id(), 0x3f800000, a.size_bytes());
  const auto time_gemm = [&](std::int64_t size) {
    return time(GemmCall{.m = size, .n = size, .k = size, .a = a.id(), .b = a.id(), .c = c.id()});
  };
  const auto small = time_gemm(256);
  EXPECT_THAT(small, AllOf(SizeIs(25), Each(Gt(0.0))));
  EXPECT_GT(median(time_gemm(kLarge)), 4 * median(small));
}

TEST_F(CudaTimingTest, FailsAsARunDoesAndStaysUsable) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  const Buffer x(backend(), 1024);
  Launch launch{.kernel = axpy.id(),
                .geometry = {.block = {2048, 1, 1}},
                .arguments = {1.0F, x.id(), x.id(), std::int64_t{256}}};
  const auto refused = backend().time(launch, {.warm_up = 0, .samples = 3});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
  launch.geometry.block = {256, 1, 1};
  EXPECT_THAT(time(launch), SizeIs(25));
}

}  // namespace
}  // namespace tuner
