// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <numeric>
#include <thread>

namespace tuner::backend {
namespace {

using ::testing::HasSubstr;

class CudaLaunchTest : public CudaTest {
 protected:
  /// Runs axpy on 1000 elements in the given blocks and checks the result if it ran.
  [[nodiscard]] Expected<void, Failure> run_axpy(std::uint32_t threads,
                                                 std::uint32_t dynamic_shared_bytes = 0) {
    const LoadedKernel axpy = build(kAxpy, "axpy");
    const Buffer x = upload(std::vector<float>(1000, 3.0F));
    const Buffer y = upload(std::vector<float>(1000, 1.0F));
    const Launch launch{.kernel = axpy.id(),
                        .steps = {{.geometry = {.grid = {(1000 + threads - 1) / threads, 1, 1},
                                                .block = {threads, 1, 1},
                                                .dynamic_shared_bytes = dynamic_shared_bytes},
                                   .arguments = {2.0F, x.id(), y.id(), std::int64_t{1000}}}}};
    auto done = backend().run(launch);
    if (done) {
      EXPECT_EQ(download<float>(y), std::vector<float>(1000, 7.0F));
    }
    return done;
  }
};

TEST_F(CudaLaunchTest, PassesScalarsAndBuffersToTheKernel) {
  const auto done = run_axpy(128);
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(CudaLaunchTest, RunsTheStepsOfAKernelInTheirOrder) {
  family::CompileJob job;
  job.source = {.name = "steps.cu",
                .text = R"(
    __global__ void square(const float* x, float* squares) {
      squares[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
    }
    template <int kCount> __global__ void add(const float* squares, float* sum) {
      *sum = 0;
      for (int i = 0; i < kCount; ++i) *sum += squares[i];
    })",
                .headers = {}};
  job.entries = {"square", "add<4>"};
  const auto binary = backend().compiler().compile(job);
  ASSERT_TRUE(binary) << binary.error().message;
  const LoadedKernel kernel(backend(), backend().load(*binary).value());
  EXPECT_EQ(backend().resources(kernel.id()).size(), 2U);
  const Buffer x = upload(std::vector<float>{1, 2, 3, 4}), squares = upload(std::vector<float>(4)),
               sum = upload(std::vector<float>{-1});
  Launch launch{.kernel = kernel.id(),
                .steps = {{.geometry = {.block = {4, 1, 1}}, .arguments = {x.id(), squares.id()}},
                          {.geometry = {}, .arguments = {squares.id(), sum.id()}}}};
  const auto done = backend().run(launch);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(download<float>(sum), std::vector<float>{30});
  const auto samples = backend().time(launch, {.warm_up = 1, .samples = 5});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_TRUE(backend().time_hot(launch));
  launch.steps[1].arguments.pop_back();
  EXPECT_EQ(backend().run(launch).error().message,
            "steps[1]: the kernel takes 2 arguments, the launch gives 1");
}

TEST_F(CudaLaunchTest, AProgrammaticLaunchMustWaitForWhatComesBefore) {
  if (backend().device().attributes.compute_capability < 90) {
    GTEST_SKIP() << backend().device().name << " has no programmatic launches";
  }
  const std::vector<float> input(100'000, 3.0F);
  const auto result = [&](std::string_view wait) {
    const LoadedKernel twice = build(
        "__global__ void twice(const float* x, float* y, int count) {" + std::string(wait) + R"(
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count) y[i] = 2 * x[i];
      })",
        "twice");
    const Buffer x = upload(input), y(backend(), x.size_bytes());
    const Launch launch{
        .kernel = twice.id(),
        .steps = {{.geometry = {.grid = {391, 1, 1}, .block = {256, 1, 1}, .programmatic = true},
                   .arguments = {x.id(), y.id(), 100'000}}}};
    const auto done = backend().run(launch);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(download<float>(x), input);
    EXPECT_TRUE(backend().time_hot(launch));
    EXPECT_TRUE(backend().time(launch, {.warm_up = 1, .samples = 5}));
    EXPECT_TRUE(backend().run(launch));
    return download<float>(y);
  };
  const std::vector<float> right(100'000, 6.0F);
  EXPECT_EQ(result("cudaGridDependencySynchronize();"), right);
  EXPECT_NE(result(""), right);
  EXPECT_NE(result("if (blockIdx.x > 0) cudaGridDependencySynchronize();"), right);
}

TEST_F(CudaLaunchTest, PassesArraysByValue) {
  const LoadedKernel weigh = build(R"(
    template <int kCount>
    struct Weights {
      float at[kCount];
    };
    template <int kCount>
    __global__ void weigh(const float* x, const __grid_constant__ Weights<kCount> w, float* y) {
      for (int i = threadIdx.x; i < kCount; i += blockDim.x) y[i] = w.at[i] * x[i];
    })",
                                   "weigh<1000>");
  const std::vector<float> weights(1000, 3.0F);
  const auto bytes = std::as_bytes(std::span(weights));
  const Buffer x = upload(std::vector<float>(1000, 2.0F));
  const Buffer y(backend(), x.size_bytes());
  Launch launch{.kernel = weigh.id(),
                .steps = {{.geometry = {.block = {128, 1, 1}},
                           .arguments = {x.id(), ArrayValue{.bytes = {bytes.begin(), bytes.end()}},
                                         y.id()}}}};
  const auto done = backend().run(launch);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(download<float>(y), std::vector<float>(1000, 6.0F));
  std::get<ArrayValue>(launch.steps[0].arguments[1]).bytes.resize(4);
  EXPECT_EQ(
      backend().run(launch).error().message,
      "argument 2: the kernel takes 4000 bytes, the launch gives 4; the types in the space file "
      "must be those of the kernel");
}

TEST_F(CudaLaunchTest, FillsVariablesOfTheImageBeforeEveryLaunch) {
  const LoadedKernel weigh = build(R"(
    __constant__ float weights[4];
    namespace detail { static __device__ float offset[1]; }
    __global__ void weigh(float* y) { y[threadIdx.x] = weights[threadIdx.x] + detail::offset[0]; })",
                                   "weigh");
  const Buffer y = upload(std::vector<float>(4));
  const auto value = [](const std::vector<float>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return ArrayValue{.bytes = {bytes.begin(), bytes.end()}};
  };
  Launch launch{.kernel = weigh.id(),
                .steps = {{.geometry = {.block = {4, 1, 1}}, .arguments = {y.id()}}}};
  for (const float first : {1.0F, 2.0F}) {
    launch.symbols = {{"weights", "weights", value({first, 3, 4, 5})}};
    const auto done = backend().run(launch);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(download<float>(y), (std::vector<float>{first, 3, 4, 5}));
  }
  launch.symbols = {{"weights", "weights", value({1, 2, 3, 4, 5})}};
  EXPECT_THAT(backend().run(launch).error().message,
              HasSubstr("the variable 'weights' has 16 bytes, the space file gives it 20"));
  launch.symbols = {{"none", "none", value({1})}};
  const auto refused = backend().run(launch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
}

TEST_F(CudaLaunchTest, GivesABlockMoreThan48KibibytesOfSharedMemory) {
  const LoadedKernel reverse = build(R"(
    template <int kCount>
    __global__ void reverse(const float* in, float* out) {
      extern __shared__ float kept[];
      for (int i = threadIdx.x; i < kCount; i += blockDim.x) kept[i] = in[i];
      __syncthreads();
      for (int i = threadIdx.x; i < kCount; i += blockDim.x) out[i] = kept[kCount - 1 - i];
    })",
                                     "reverse<16000>");
  std::vector<float> values(16000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Buffer in = upload(values);
  const Buffer out(backend(), in.size_bytes());
  const auto done = backend().run(
      Launch{.kernel = reverse.id(),
             .steps = {{.geometry = {.block = {256, 1, 1}, .dynamic_shared_bytes = 64000},
                        .arguments = {in.id(), out.id()}}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(download<float>(out), std::vector<float>(values.rbegin(), values.rend()));
}

TEST_F(CudaLaunchTest, ReportsTheResourcesOfAKernel) {
  const LoadedKernel kernel = build(R"(
    __global__ void keep(float* x, int turn) {
      __shared__ float kept[256];
      float own[64];
      for (int i = 0; i < 64; ++i) own[(i * turn) % 64] = x[i];
      kept[threadIdx.x] = own[turn % 64];
      __syncthreads();
      x[threadIdx.x] = kept[255 - threadIdx.x];
    })",
                                    "keep");
  const Resources resources = backend().resources(kernel.id()).at(0);
  EXPECT_GT(resources.registers, 0);
  EXPECT_LE(resources.registers, 255);
  EXPECT_EQ(resources.static_shared_bytes, 1024U);
  EXPECT_GE(resources.local_bytes, 256U);
}

TEST_F(CudaLaunchTest, RefusesTooManyThreadsAndStaysUsable) {
  const auto refused = run_axpy(2048);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
  EXPECT_THAT(refused.error().message, HasSubstr("cudaErrorInvalid"));
  EXPECT_TRUE(run_axpy(256));
}

TEST_F(CudaLaunchTest, RefusesTooMuchSharedMemoryAndStaysUsable) {
  const std::int64_t most = backend().device().attributes.max_smem_per_block_optin;
  EXPECT_TRUE(run_axpy(128, static_cast<std::uint32_t>(most)));
  const auto refused = run_axpy(128, static_cast<std::uint32_t>(most + 1024));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
  EXPECT_THAT(refused.error().message, HasSubstr("shared memory"));
  EXPECT_TRUE(run_axpy(256));
}

TEST_F(CudaLaunchTest, RefusesArgumentsThatAreNotTheKernels) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  const Buffer x(backend(), 4);
  Launch launch{.kernel = axpy.id(),
                .steps = {{.geometry = {}, .arguments = {2.0F, x.id(), x.id()}}}};
  const auto too_few = backend().run(launch);
  ASSERT_FALSE(too_few);
  EXPECT_EQ(too_few.error().outcome, Outcome::launch_error);
  EXPECT_EQ(too_few.error().message, "the kernel takes 4 arguments, the launch gives 3");

  launch.steps[0].arguments.emplace_back(std::int32_t{1});
  const auto too_small = backend().run(launch);
  ASSERT_FALSE(too_small);
  EXPECT_EQ(too_small.error().message,
            "argument 4: the kernel takes 8 bytes, the launch gives 4; the types in the space file "
            "must be those of the kernel");
}

TEST_F(CudaLaunchTest, RefusesAnImageWithoutTheSymbol) {
  family::CompileJob job;
  job.source = {.name = "test.cu", .text = kAxpy, .headers = {}};
  job.entries = {"axpy"};
  auto binary = backend().compiler().compile(job);
  ASSERT_TRUE(binary);
  binary->symbols = {"no_such_kernel"};
  const auto loaded = backend().load(*binary);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().outcome, Outcome::launch_error);
  EXPECT_TRUE(run_axpy(64));
}

using CudaFaultDeathTest = CudaLaunchTest;

/// A fault takes the process's device with it, so it happens in a process of its own.
TEST_F(CudaFaultDeathTest, ReportsAnIllegalAddressAsCrashedAndIsLost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [this] {
    const LoadedKernel stray =
        build("__global__ void stray(float* x, long long far) { x[far] = 1; }", "stray");
    const Buffer x(backend(), 4);
    const Launch launch{.kernel = stray.id(),
                        .steps = {{.geometry = {}, .arguments = {x.id(), std::int64_t{1} << 40}}}};
    const auto first = backend().run(launch);
    if (first) std::_Exit(2);
    std::fputs(first.error().message.c_str(), stderr);
    if (first.error().outcome != Outcome::crashed) std::_Exit(3);
    const auto second = backend().time(launch, {.warm_up = 0, .samples = 2});
    if (second || second.error().outcome != Outcome::crashed) std::_Exit(4);
  };
  EXPECT_EXIT(
      {
        fault();
        close_backend();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "cudaErrorIllegalAddress \\(700\\)");
}

/// Delays what is enqueued on the legacy default stream, as kernels of another process do.
void delay_default_stream() {
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
  ASSERT_EQ(cudaLaunchHostFunc(cudaStreamLegacy, sleep, nullptr), cudaSuccess);
}

TEST_F(CudaLaunchTest, ReadOnlyCopiesHoldTheInputs) {
  const LoadedKernel axpy = build(kAxpy, "axpy");
  std::vector<float> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const Buffer x = upload(numbers), y = upload(std::vector<float>(997, 1.0F));
  // Behind the start of its buffer, as operands with an offset are.
  const Region from(x.id(), 3 * sizeof(float));
  const Launch launch{
      .kernel = axpy.id(),
      .steps = {{.geometry = {.grid = {8, 1, 1}, .block = {128, 1, 1}},
                 .arguments = {2.0F, from, y.id(), std::int64_t{997}}}},
      .read_only = {{.name = "x", .region = from, .size_bytes = 997 * sizeof(float)}},
      .faults_on_write = true};
  delay_default_stream();
  const auto done = backend().run(launch);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<float> sums = download<float>(y);
  EXPECT_EQ(sums.front(), 7.0F);
  EXPECT_EQ(sums.back(), 1999.0F);
}

TEST_F(CudaLaunchTest, RestoresTheVariablesThatAKernelWasLoadedWith) {
  delay_default_stream();
  const LoadedKernel count = build(
      "__device__ int calls = 5; __global__ void count(int* out) { *out = ++calls; }", "count");
  const Buffer out(backend(), 4);
  const Launch launch{.kernel = count.id(),
                      .steps = {{.geometry = {}, .arguments = {out.id()}}},
                      .restores = count.id()};
  for (int i = 0; i < 2; ++i) {
    const auto done = backend().run(launch);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(download<int>(out), std::vector<int>{6});
  }
}

TEST_F(CudaFaultDeathTest, AWriteIntoAReadOnlyCopyIsCrashedWithTheNamesOfTheInputs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [this] {
    const LoadedKernel rewrite =
        build("__global__ void rewrite(float* x) { volatile float* same = x; same[0] = same[0]; }",
              "rewrite");
    const Buffer x(backend(), 4);
    Launch launch{.kernel = rewrite.id(),
                  .steps = {{.geometry = {}, .arguments = {x.id()}}},
                  .read_only = {{.name = "x", .region = x.id(), .size_bytes = 4}}};
    if (!backend().run(launch)) std::_Exit(2);
    launch.faults_on_write = true;
    const auto done = backend().run(launch);
    if (done || done.error().outcome != Outcome::crashed) std::_Exit(3);
    std::fputs(done.error().message.c_str(), stderr);
  };
  EXPECT_EXIT(
      {
        fault();
        close_backend();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "only in a launch with read-only inputs: it writes to x");
}

}  // namespace
}  // namespace tuner::backend
