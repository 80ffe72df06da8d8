// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"

#include <algorithm>
#include <unistd.h>

namespace tuner::backend {
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

/// Reads `count` elements through the L2 cache, so many rounds.
constexpr const char* kReader = R"(
  __global__ void read(const float4* x, float4* out, long long count, int rounds) {
    float4 sum = {};
    for (int round = 0; round < rounds; ++round) {
      for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
           i += gridDim.x * blockDim.x) {
        const float4 value = __ldcg(x + i);
        sum.x += value.x; sum.y += value.y; sum.z += value.z; sum.w += value.w;
      }
    }
    if (sum.x + sum.y + sum.z + sum.w != 0) out[0] = sum;
  })";

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
    return time(Launch{.kernel = axpy.id(),
                       .steps = {{.geometry = {.grid = {static_cast<std::uint32_t>(n / 256), 1, 1},
                                               .block = {256, 1, 1}},
                                  .arguments = {1.0F, x.id(), y.id(), n}}}});
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
  EXPECT_LT(
      median(time(Launch{.kernel = nothing.id(), .steps = {{.geometry = {}, .arguments = {}}}})),
      10e3);
}

/// The first of several rounds over 16 MiB reads from memory, the others from the cache; without
/// a flush all would read from the cache.
TEST_F(CudaTimingTest, TimesFromAColdCache) {
  if (backend().device().attributes.l2_bytes < (std::int64_t{32} << 20)) {
    GTEST_SKIP() << "the L2 cache does not hold 16 MiB for certain";
  }
  const LoadedKernel reader = build(kReader, "read");
  const Buffer x(backend(), std::size_t{16} << 20);
  const Buffer out(backend(), 16);
  backend().fill(x.id(), 0, x.size_bytes());
  const auto sms = static_cast<std::uint32_t>(backend().device().attributes.sm_count);
  const auto time_rounds = [&](std::int32_t rounds) {
    return median(time(Launch{
        .kernel = reader.id(),
        .steps = {{.geometry = {.grid = {4 * sms, 1, 1}, .block = {256, 1, 1}},
                   .arguments = {x.id(), out.id(), std::int64_t(x.size_bytes() / 16), rounds}}}}));
  };
  const double first_ns = time_rounds(1) - time_rounds(0);
  const double later_ns = (time_rounds(11) - time_rounds(1)) / 10;
  EXPECT_GT(first_ns, 1.2 * later_ns);
}

/// A flush that wrote would leave a cache full of lines that are written back while the kernel
/// reads: 1.25 times its time on an H200.
TEST_F(CudaTimingTest, FlushesWithoutLeavingLinesToBeWrittenBack) {
  const LoadedKernel reader = build(kReader, "read");
  const space::DeviceAttributes& device = backend().device().attributes;
  const Buffer x(backend(), 2 * static_cast<std::size_t>(device.l2_bytes));
  const Buffer out(backend(), 16);
  backend().fill(x.id(), 0, x.size_bytes());
  const Launch launch{
      .kernel = reader.id(),
      .steps = {
          {.geometry = {.grid = {8 * static_cast<std::uint32_t>(device.sm_count), 1, 1},
                        .block = {256, 1, 1}},
           .arguments = {x.id(), out.id(), std::int64_t(x.size_bytes() / 16), std::int32_t{1}}}}};
  const auto hot_ns = backend().time_hot(launch);
  ASSERT_TRUE(hot_ns) << hot_ns.error().message;
  EXPECT_LT(median(time(launch)), 1.12 * *hot_ns);
}

/// A kernel may ask the cache to evict its lines last: a flush leaves them, so that each sample
/// would find those of the one before. What is read is a chain of places 4 KiB apart, each of which
/// names the next: the latency of memory is well above that of the cache.
TEST_F(CudaTimingTest, TimesFromAColdCacheWhatIsToBeEvictedLast) {
  if (backend().device().attributes.compute_capability < 80) {
    GTEST_SKIP() << backend().device().name << " knows no such lines";
  }
  const std::string source = R"(
    template <bool LAST>
    __global__ void follow(const long long* x, long long* out) {
      long long at = 0, policy;
      asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
      for (int i = 0; i < 512; ++i) {
        if (LAST) {
          asm volatile("ld.global.L2::cache_hint.b64 %0, [%1], %2;"
                       : "=l"(at) : "l"(x + at), "l"(policy));
        } else {
          asm volatile("ld.global.b64 %0, [%1];" : "=l"(at) : "l"(x + at));
        }
      }
      *out = at;
    })";
  constexpr std::size_t kPlaces = 512, kApart = 512;
  std::vector<std::int64_t> chain(kPlaces * kApart);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    chain[i * kApart] = static_cast<std::int64_t>((i + 1) % kPlaces * kApart);
  }
  const Buffer x = upload(chain);
  const Buffer out(backend(), sizeof(std::int64_t));
  const LoadedKernel last = build(source, "follow<true>");
  const LoadedKernel plain = build(source, "follow<false>");
  const auto launch = [&](const LoadedKernel& kernel) {
    return Launch{.kernel = kernel.id(),
                  .steps = {{.geometry = {}, .arguments = {x.id(), out.id()}}}};
  };
  const double cold_ns = median(time(launch(plain)));
  const auto hot_ns = backend().time_hot(launch(plain));
  ASSERT_TRUE(hot_ns) << hot_ns.error().message;
  ASSERT_LT(*hot_ns, 0.7 * cold_ns) << "else the test could not tell";
  EXPECT_GT(median(time(launch(last))), 0.85 * cold_ns);
}

TEST_F(CudaTimingTest, TimesTheLibraryByTheSamePath) {
  constexpr std::int64_t kLarge = 2048;
  const Buffer a(backend(), kLarge * kLarge * sizeof(float));
  const Buffer c(backend(), a.size_bytes());
  backend().fill(a.id(), 0x3f800000, a.size_bytes());
  const auto time_gemm = [&](std::int64_t size) {
    return time(LibraryCall{.operation = {.type = family::ElementType::f32,
                                          .shape = blas::packed_gemm(size, size, size)},
                            .operands = {.places = {{a.id(), a.id(), c.id()}}}});
  };
  const auto small = time_gemm(256);
  EXPECT_THAT(small, AllOf(SizeIs(25), Each(Gt(0.0))));
  EXPECT_GT(median(time_gemm(kLarge)), 4 * median(small));
}

TEST_F(CudaTimingTest, FailsAsARunDoesAndStaysUsable) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  const Buffer x(backend(), 1024);
  Launch launch{.kernel = axpy.id(),
                .steps = {{.geometry = {.block = {2048, 1, 1}},
                           .arguments = {1.0F, x.id(), x.id(), std::int64_t{256}}}}};
  const auto refused = backend().time(launch, {.warm_up = 0, .samples = 3});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
  launch.steps[0].geometry.block = {256, 1, 1};
  EXPECT_THAT(time(launch), SizeIs(25));
}

TEST_F(CudaTimingTest, KnowsTheClockOfEverySample) {
  const LoadedKernel nothing = build("__global__ void nothing() {}", "nothing");
  const auto samples =
      backend().time(Launch{.kernel = nothing.id(), .steps = {{.geometry = {}, .arguments = {}}}},
                     {.warm_up = 1, .samples = 20, .warm_up_ns = 50e6});
  ASSERT_TRUE(samples) << samples.error().message;
  for (const Sample& sample : *samples) {
    ASSERT_TRUE(sample.clock_mhz) << "even of a kernel that is much shorter than the timer's step";
    EXPECT_GT(*sample.clock_mhz, 200);
    EXPECT_LT(*sample.clock_mhz, 4000);
  }
}

TEST_F(CudaTimingTest, WarmsUpForTheTimeAskedFor) {
  const LoadedKernel count = build("__global__ void count(int* runs) { ++*runs; }", "count");
  const Buffer runs(backend(), sizeof(int));
  const auto counted = [&](const SamplePlan& plan) {
    backend().fill(runs.id(), 0, sizeof(int));
    const auto samples = backend().time(
        Launch{.kernel = count.id(), .steps = {{.geometry = {}, .arguments = {runs.id()}}}}, plan);
    if (!samples) throw Error(ErrorCode::failure, samples.error().message);
    return download<int>(runs).front();
  };
  EXPECT_EQ(counted({.warm_up = 0, .samples = 3}), 3);
  EXPECT_GT(counted({.warm_up = 1, .samples = 3, .warm_up_ns = 20e6}), 100);
}

/// 16 MiB fit into the cache: read again and again they come faster than after a flush.
TEST_F(CudaTimingTest, HotIsFasterThanColdForWhatFitsTheCache) {
  if (backend().device().attributes.l2_bytes < (std::int64_t{32} << 20)) {
    GTEST_SKIP() << "the L2 cache does not hold 16 MiB for certain";
  }
  const LoadedKernel reader = build(R"(
    __global__ void read(const float4* x, float4* out) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      const float4 value = __ldcg(x + i);
      if (value.x + value.y + value.z + value.w != 0) out[0] = value;
    })",
                                    "read");
  const Buffer x(backend(), std::size_t{16} << 20);
  const Buffer out(backend(), 16);
  backend().fill(x.id(), 0, x.size_bytes());
  const Launch launch{
      .kernel = reader.id(),
      .steps = {{.geometry = {.grid = {(1 << 20) / 256, 1, 1}, .block = {256, 1, 1}},
                 .arguments = {x.id(), out.id()}}}};
  const auto hot_ns = backend().time_hot(launch);
  ASSERT_TRUE(hot_ns) << hot_ns.error().message;
  EXPECT_GT(*hot_ns, 0);
  EXPECT_LT(*hot_ns, median(time(launch)));
}

/// Every block follows a chain through its share of the lines, each of which names the next: the
/// latency of memory is well above that of the cache, which holds one copy but not all.
TEST_F(CudaTimingTest, ASeriesThroughCopiesTakesItsDataFromMemory) {
  const LoadedKernel follow = build(R"(
    __global__ void follow(const long long* x, long long* out) {
      long long at = 16 * blockIdx.x;
      for (int i = 0; i < 256; ++i) at = __ldcg(x + at);
      out[blockIdx.x] = at;
    })",
                                    "follow");
  constexpr std::size_t kChains = 64, kSteps = 256, kLine = 16;
  std::vector<std::int64_t> chain(kChains * kSteps * kLine);
  for (std::size_t line = 0; line < kChains * kSteps; ++line) {
    const std::size_t next = (line + kChains) % (kChains * kSteps);
    chain[line * kLine] = static_cast<std::int64_t>(next * kLine);
  }
  const Buffer out(backend(), kChains * sizeof(std::int64_t));
  std::vector<Buffer> copies;
  std::vector<Work> works;
  const std::size_t bytes = chain.size() * sizeof chain.front();
  while (copies.size() * bytes <
         3 * static_cast<std::size_t>(backend().device().attributes.l2_bytes)) {
    copies.push_back(upload(chain));
    works.emplace_back(Launch{.kernel = follow.id(),
                              .steps = {{.geometry = {.grid = {kChains, 1, 1}, .block = {1, 1, 1}},
                                         .arguments = {copies.back().id(), out.id()}}}});
  }
  ASSERT_GT(works.size(), 2U);
  const auto memory = backend().time_series(works, Lead::none);
  const auto cache = backend().time_series(std::span(works).first(1), Lead::none);
  ASSERT_TRUE(memory) << memory.error().message;
  ASSERT_TRUE(cache) << cache.error().message;
  EXPECT_EQ(memory->runs % static_cast<std::int64_t>(works.size()), 0);
  const double memory_ns = memory->time_ns, cache_ns = cache->time_ns;
  EXPECT_GT(memory_ns, 1.3 * cache_ns);
  const auto hot_ns = backend().time_hot(works.front());
  ASSERT_TRUE(hot_ns) << hot_ns.error().message;
  EXPECT_NEAR(cache_ns, *hot_ns, 0.1 * *hot_ns);
  const auto loaded = backend().time_series(works, Lead::load);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_NEAR(loaded->time_ns, memory_ns, 0.1 * memory_ns) << "it takes little power";
  const auto regimes = backend().time_regimes(works);
  ASSERT_TRUE(regimes && *regimes);
  EXPECT_NEAR((*regimes)->rested_ns, memory_ns, 0.1 * memory_ns);
}

TEST_F(CudaTimingTest, TimesShortAndLongWorkAndTheLibraryHot) {
  const LoadedKernel nothing = build("__global__ void nothing() {}", "nothing");
  const auto short_ns = backend().time_hot(
      Launch{.kernel = nothing.id(), .steps = {{.geometry = {}, .arguments = {}}}});
  ASSERT_TRUE(short_ns) << short_ns.error().message;
  EXPECT_LT(*short_ns, 5e3) << "in a graph";
  constexpr std::int64_t kSize = 2048;
  const Buffer a(backend(), kSize * kSize * sizeof(float));
  const Buffer c(backend(), a.size_bytes());
  backend().fill(a.id(), 0x3f800000, a.size_bytes());
  for (const std::int64_t size : {std::int64_t{64}, kSize}) {
    const LibraryCall call{.operation = {.type = family::ElementType::f32,
                                         .shape = blas::packed_gemm(size, size, size)},
                           .operands = {.places = {{a.id(), a.id(), c.id()}}}};
    const auto hot_ns = backend().time_hot(call);
    ASSERT_TRUE(hot_ns) << hot_ns.error().message;
    EXPECT_LT(*hot_ns, 1.2 * median(time(call))) << size;
  }
  EXPECT_EQ(download<float>(c).back(), 2048.0F) << "and it was computed";
}

TEST_F(CudaTimingTest, KnowsItsPeakAndThatTheLibraryStaysBelowIt) {
  const auto peak = backend().peak(family::ElementType::f32);
  if (!peak) GTEST_SKIP() << "of a compute capability that is not in the table";
  constexpr std::int64_t kSize = 4096;
  const Buffer a(backend(), kSize * kSize * sizeof(float));
  const Buffer c(backend(), a.size_bytes());
  const double time_ns =
      median(time(LibraryCall{.operation = {.type = family::ElementType::f32,
                                            .shape = blas::packed_gemm(kSize, kSize, kSize)},
                              .operands = {.places = {{a.id(), a.id(), c.id()}}}}));
  const double flops_per_s = 2.0 * kSize * kSize * kSize / (time_ns * 1e-9);
  EXPECT_LT(flops_per_s, peak->flops_per_s);
  EXPECT_GT(flops_per_s, 0.1 * peak->flops_per_s);
  EXPECT_GT(peak->bytes_per_s, 50e9);
  EXPECT_LT(peak->bytes_per_s, 50e12);
}

TEST_F(CudaTimingTest, DoesNotCountItselfAmongOtherProcesses) {
  EXPECT_THAT(backend().conditions().other_processes, testing::Not(testing::Contains(::getpid())));
}

}  // namespace
}  // namespace tuner::backend
