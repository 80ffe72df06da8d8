// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_backend.hpp"

#include "../support/hostile_sources.hpp"
#include "../support/signatures.hpp"
#include "cpu_fixture.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/source/compiled_signature.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>

namespace tuner::backend {
namespace {

using CpuBackend = CpuBackendTest;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Gt;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kIncrement =
    "__global__ void kernel(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }";

TEST_F(CpuBackendTest, TellsWhatTheParametersOfEntriesAre) {
  const auto binary = backend().compiler().compile(testing_support::job_of_signatures());
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EQ(source::compiled_signatures(binary->image), testing_support::kSignatures);
}

TEST_F(CpuBackend, NamesTheProcessorCompilerAndLibrary) {
  EXPECT_EQ(backend().device().backend, "cpu");
  EXPECT_FALSE(backend().device().name.empty());
  EXPECT_EQ(backend().device().attributes.compute_capability, 0);
  EXPECT_GE(backend().device().attributes.sm_count, 1);
  EXPECT_GT(backend().device().attributes.memory_bytes, 0);
  EXPECT_THAT(backend().environment().compiler, StartsWith("g++ "));
  EXPECT_THAT(backend().environment().library, testing::MatchesRegex("OpenBLAS [0-9.]+"));
}

TEST_F(CpuBackend, CompileErrorNamesTheKernelsFileAndLine) {
  const auto binary = compile("\n\n__global__ void kernel(int* out) { out[0] = unknown; }\n");
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.error().message,
              AllOf(HasSubstr("kernel.cu:3:"), HasSubstr("unknown"), Not(HasSubstr("/tmp/"))));
  EXPECT_LE(binary.error().message.size(), 4096u);
}

TEST_F(CpuBackend, CompileErrorWhenTheEntryIsNotInTheSource) {
  const auto binary = compile(kIncrement, "kernle<4>");
  ASSERT_FALSE(binary);
  EXPECT_THAT(binary.error().message, HasSubstr("kernle"));
}

TEST_F(CpuBackend, CompilesWithDefinesHeadersAndTemplateArguments) {
  family::CompileJob job;
  job.source = {
      .name = "a \"quoted\" name.cu",
      .text =
          "#include \"inner/offset.cuh\"\n"
          "template <int A, class T>\n"
          "__global__ void kernel(T* out) { out[threadIdx.x] = A + STEP + offset(); }",
      .headers = {{"inner/offset.cuh", "__device__ __forceinline__ int offset() { return 5; }"}}};
  job.entries = {"kernel<(3 > 2 ? 100 : 0), int>"};
  job.options = {"-DSTEP=20", "--use_fast_math", "-std=c++17"};
  const auto binary = backend().compiler().compile(job);
  ASSERT_TRUE(binary) << binary.error().message;
  const auto kernel = backend().load(*binary);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const BufferId out = upload(std::vector<int>{0});
  ASSERT_TRUE(
      backend().run(Launch{.kernel = *kernel, .steps = {{.geometry = {}, .arguments = {out}}}}));
  EXPECT_EQ(download<int>(out, 1)[0], 125);
}

TEST_F(CpuBackend, RefusesHeadersOutsideOfTheKernelsFolder) {
  family::CompileJob job;
  job.source = {.name = "kernel.cu", .text = kIncrement, .headers = {{"../escape.cuh", ""}}};
  job.entries = {"kernel"};
  const auto binary = backend().compiler().compile(job);
  ASSERT_FALSE(binary);
  EXPECT_THAT(binary.error().message, HasSubstr("../escape.cuh"));
}

TEST_F(CpuBackend, ReadsNoFileThatASourceOrAHeaderTriesToReach) {
  for (const char* text : testing_support::kHostileSources) {
    const auto direct = compile(std::string(text) + kIncrement);
    ASSERT_FALSE(direct) << text;
    EXPECT_THAT(direct.error().message, StartsWith("kernel.cu:")) << text;
    family::CompileJob job;
    job.source = {.name = "kernel.cu", .text = kIncrement, .headers = {{"a.cuh", text}}};
    const auto by_header = backend().compiler().compile(job);
    ASSERT_FALSE(by_header) << text;
    EXPECT_THAT(by_header.error().message, StartsWith("a.cuh:")) << text;
  }
}

TEST_F(CpuBackend, ShowsNoLineOfAFileThatASourceClaimsToBe) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "secret", "password\n");
  const auto failed =
      compile("#line 1 \"" + (directory.path() / "secret").string() + "\"\nwrong;\n");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, Not(HasSubstr("password")));
}

TEST_F(CpuBackend, RefusesKernelsWhoseLocalArraysExceedAThreadsStack) {
  const auto binary = compile(R"(
    __global__ void kernel(int* out) {
      volatile int large[100000];
      large[threadIdx.x] = 1;
      out[0] = large[threadIdx.x];
    })");
  ASSERT_FALSE(binary);
  EXPECT_THAT(binary.error().message, HasSubstr("frame size"));
}

TEST_F(CpuBackend, RefusesLaunchesThatAGpuRefuses) {
  const KernelId kernel = load(kIncrement);
  const BufferId out = upload(std::vector<int>(1024));
  const auto refusal = [&](const family::Geometry& geometry) {
    const auto done = backend().run(
        Launch{.kernel = kernel, .steps = {{.geometry = geometry, .arguments = {out}}}});
    if (done) return std::string("ran");
    EXPECT_EQ(done.error().outcome, Outcome::launch_error);
    return done.error().message;
  };
  EXPECT_EQ(refusal({.block = {1024, 1, 1}, .dynamic_shared_bytes = 232448}), "ran");
  EXPECT_THAT(refusal({.block = {32, 33, 1}}), HasSubstr("1056 threads"));
  EXPECT_THAT(refusal({.block = {1025, 1, 1}}), HasSubstr("block 1025x1x1"));
  EXPECT_THAT(refusal({.block = {1, 1, 65}}), HasSubstr("block 1x1x65"));
  EXPECT_THAT(refusal({.block = {0, 1, 1}}), HasSubstr("block 0x1x1"));
  EXPECT_THAT(refusal({.grid = {1, 0, 1}}), HasSubstr("grid 1x0x1"));
  EXPECT_THAT(refusal({.grid = {1, 65536, 1}}), HasSubstr("grid 1x65536x1"));
  EXPECT_THAT(refusal({.dynamic_shared_bytes = 232449}), HasSubstr("232449 bytes"));
}

TEST_F(CpuBackend, RefusesArgumentsThatTheKernelDoesNotTake) {
  const KernelId kernel = load("__global__ void kernel(int* out, int n) { out[0] = n; }");
  const BufferId out = upload(std::vector<int>{0});
  const auto refusal = [&](std::vector<LaunchArgument> arguments) {
    const auto done = backend().run(
        Launch{.kernel = kernel, .steps = {{.geometry = {}, .arguments = std::move(arguments)}}});
    return done ? "ran" : done.error().message;
  };
  EXPECT_EQ(refusal({out, family::Scalar(7)}), "ran");
  EXPECT_THAT(refusal({out}), HasSubstr("takes 2 arguments, the launch gives 1"));
  EXPECT_THAT(refusal({out, family::Scalar(std::int64_t{7})}),
              HasSubstr("argument 2: the kernel takes 4"));
}

constexpr const char* kTwoSteps = R"(
  __global__ void square(const int* x, int* squares) {
    squares[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
  }
  template <int kCount> __global__ void add(const int* squares, int* sum) {
    extern __shared__ int left[];
    *sum = left[0] == 7 ? -1 : 0;
    for (int i = 0; i < kCount; ++i) *sum += squares[i];
  })";

TEST_F(CpuBackend, RunsTheStepsOfAKernelInTheirOrder) {
  family::CompileJob job;
  job.source = {.name = "kernel.cu", .text = kTwoSteps, .headers = {}};
  job.entries = {"square", "add<4>", "square"};
  const auto binary = backend().compiler().compile(job);
  ASSERT_TRUE(binary) << binary.error().message;
  const KernelId kernel = backend().load(*binary).value();
  EXPECT_EQ(backend().resources(kernel).size(), 3U);
  const BufferId x = upload(std::vector<int>{1, 2, 3, 4}), squares = upload(std::vector<int>(4)),
                 sum = upload(std::vector<int>(1));
  Launch launch{.kernel = kernel,
                .steps = {
                    {.geometry = {.block = {4, 1, 1}}, .arguments = {x, squares}},
                    {.geometry = {.dynamic_shared_bytes = 4}, .arguments = {squares, sum}},
                    {.geometry = {.block = {4, 1, 1}}, .arguments = {squares, x}},
                }};
  const auto done = backend().run(launch);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(download<int>(sum, 1), ElementsAre(30));
  EXPECT_THAT(download<int>(x, 4), ElementsAre(1, 16, 81, 256));
  EXPECT_EQ(backend().time(launch, {.warm_up = 0, .samples = 2})->size(), 2U);

  launch.steps[1].geometry.grid = {0, 1, 1};
  EXPECT_THAT(backend().run(launch).error().message, StartsWith("steps[1]: grid 0x1x1"));
  launch.steps.pop_back();
  EXPECT_EQ(backend().run(launch).error().message, "2 launches of a kernel with 3 functions");
}

/// Why entries do not compile.
class CpuEntries : public CpuBackend {
 protected:
  std::string refusal(std::string_view source, const std::vector<std::string>& entries) {
    family::CompileJob job;
    job.source = {.name = "kernel.cu", .text = std::string(source), .headers = {}};
    job.entries = entries;
    const auto binary = backend().compiler().compile(job);
    return binary ? "it compiles" : binary.error().message;
  }
};

TEST_F(CpuEntries, ThatTheSourceHasNotAreNamed) {
  EXPECT_THAT(
      refusal(kTwoSteps, {"square", "ad<4>"}),
      AllOf(StartsWith("kernel entry ad<4>:1:"),
            HasSubstr("was not declared in this scope; did you mean"), Not(HasSubstr("tuner"))));
}

TEST_F(CpuEntries, ThatHaveTheNameOfAFunctionOfCudaAreToldSo) {
  EXPECT_THAT(refusal("__global__ void norm(const float* x, float* y) { *y = *x; }", {"norm"}),
              HasSubstr("the name of a function of CUDA"));
}

TEST_F(CpuEntries, WhoseArgumentsTheTemplateDoesNotTakeAreShown) {
  EXPECT_THAT(
      refusal("template <class T, int B> __global__ void fill(T* out) { *out = B; }",
              {"fill<4, float>"}),
      testing::MatchesRegex("kernel entry fill<4, float>:1:[0-9]+: error: no template takes "
                            "these arguments: compare their order and kinds with its "
                            "parameters\n"));
}

TEST_F(CpuBackend, PassesScalarsOfEveryType) {
  const KernelId kernel = load(R"(
    __global__ void kernel(double* out, int a, unsigned b, long long c, float d, double e) {
      out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e;
    })");
  const BufferId out = upload(std::vector<double>(5));
  const auto done = backend().run(
      Launch{.kernel = kernel,
             .steps = {{.geometry = {},
                        .arguments = {out, family::Scalar(-1), family::Scalar(4000000000u),
                                      family::Scalar(std::int64_t{1} << 40), family::Scalar(0.5f),
                                      family::Scalar(0.25)}}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(download<double>(out, 5), testing::ElementsAre(-1, 4e9, 1099511627776.0, 0.5, 0.25));
}

TEST_F(CpuBackend, PassesArraysByValueBetweenOtherArguments) {
  const KernelId kernel = load(R"(
    template <class T, int N> struct Array { T at[N]; };
    __global__ void kernel(double* out, const __grid_constant__ Array<unsigned short, 3> a, int b,
                           const __grid_constant__ Array<double, 2> c) {
      out[0] = a.at[2]; out[1] = b; out[2] = c.at[0]; out[3] = c.at[1];
    })");
  const auto array = [](auto values) {
    const auto bytes = std::as_bytes(std::span(values));
    return ArrayValue{.bytes = {bytes.begin(), bytes.end()}};
  };
  const BufferId out = upload(std::vector<double>(4));
  const auto done = backend().run(Launch{
      .kernel = kernel,
      .steps = {{.geometry = {},
                 .arguments = {out, array(std::array<std::uint16_t, 3>{1, 2, 65535}),
                               family::Scalar(-7), array(std::array<double, 2>{0.5, 0.25})}}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(download<double>(out, 4), testing::ElementsAre(65535, -7, 0.5, 0.25));
}

TEST_F(CpuBackend, WritesReadsFillsAndCopiesBuffers) {
  const BufferId from = upload(std::vector<int>{1, 2, 3, 4}), to = backend().allocate(16);
  backend().fill(to, 0xdeadbeef, 16);
  EXPECT_THAT(download<unsigned>(to, 4), Each(0xdeadbeefu));
  backend().copy(to, from, 8);
  EXPECT_THAT(download<unsigned>(to, 4), testing::ElementsAre(1, 2, 0xdeadbeefu, 0xdeadbeefu));
  EXPECT_THROW(static_cast<void>(download<int>(to, 5)), Error) << "longer than the buffer";
  backend().release(to);
  EXPECT_THROW(static_cast<void>(download<int>(to, 1)), Error) << "released";
}

TEST_F(CpuBackend, ARegionBeginsInsideABuffer) {
  const BufferId from = upload(std::vector<int>{1, 2, 3, 4}), to = upload(std::vector<int>(4));
  backend().copy({to, 4}, {from, 8}, 8);
  backend().fill({to, 12}, 9, 4);
  EXPECT_THAT(download<int>(to, 4), testing::ElementsAre(0, 3, 4, 9));
  int second = 0;
  backend().read({from, 4}, std::as_writable_bytes(std::span(&second, 1)));
  EXPECT_EQ(second, 2);
  const KernelId kernel = load("__global__ void set(int* out) { out[0] = 7; }", "set");
  ASSERT_TRUE(backend().run(
      Launch{.kernel = kernel, .steps = {{.geometry = {}, .arguments = {Region{to, 4}}}}}));
  EXPECT_THAT(download<int>(to, 4), testing::ElementsAre(0, 7, 4, 9));
  EXPECT_THROW(backend().fill({to, 12}, 9, 8), Error) << "over the buffer's end";
  EXPECT_THROW(backend().fill({to, 20}, 9, 0), Error) << "beyond the buffer's end";
}

TEST_F(CpuBackend, EveryOtherLaunchBeginsItsThreadsInTheOtherOrder) {
  const KernelId kernel =
      load("__global__ void last(int* out) { out[0] = threadIdx.x + 10 * threadIdx.y; }", "last");
  const BufferId out = upload(std::vector<int>{-1});
  std::vector<int> last;
  for (int launch = 0; launch < 4; ++launch) {
    ASSERT_TRUE(backend().run(Launch{
        .kernel = kernel,
        .steps = {{.geometry = {.grid = {1, 1, 1}, .block = {3, 2, 1}}, .arguments = {out}}}}));
    last.push_back(download<int>(out, 1).front());
  }
  EXPECT_THAT(
      last, testing::AnyOf(testing::ElementsAre(0, 12, 0, 12), testing::ElementsAre(12, 0, 12, 0)));
}

TEST_F(CpuBackend, DynamicSharedMemoryBeginsAsNaN) {
  const KernelId kernel = load(
      "__global__ void peek(float* out) { extern __shared__ float shared[];\n"
      "out[blockIdx.x] = shared[1]; shared[1] = 5.0f; }",
      "peek");
  const BufferId out = upload(std::vector<float>(3));
  ASSERT_TRUE(backend().run(Launch{
      .kernel = kernel,
      .steps = {{.geometry = {.grid = {3, 1, 1}, .block = {1, 1, 1}, .dynamic_shared_bytes = 8},
                 .arguments = {out}}}}));
  EXPECT_THAT(download<float>(out, 3), Each(testing::IsNan()));
}

TEST_F(CpuBackend, WritesBeyondDynamicSharedMemoryAreFound) {
  const KernelId kernel = load(R"(
    extern __shared__ char words[];
    __global__ void kernel(int bytes) { for (int i = threadIdx.x; i < bytes; i += blockDim.x) words[i] = 1; }
  )");
  const auto run = [&](int bytes, unsigned dynamic, unsigned blocks, unsigned threads) {
    const Launch launch{.kernel = kernel,
                        .steps = {{.geometry = {.grid = {blocks, 1, 1},
                                                .block = {threads, 1, 1},
                                                .dynamic_shared_bytes = dynamic},
                                   .arguments = {bytes}}}};
    return backend().run(launch);
  };
  for (const unsigned blocks : {1U, 5U}) {
    for (const unsigned threads : {1U, 64U}) {
      for (const auto& [bytes, dynamic] : {std::pair(4, 0U), {260, 256U}, {232452, 232448U}}) {
        const auto beyond = run(bytes, dynamic, blocks, threads);
        ASSERT_FALSE(beyond) << bytes;
        EXPECT_EQ(beyond.error().outcome, Outcome::out_of_bounds);
        EXPECT_THAT(beyond.error().message, HasSubstr("its " + std::to_string(dynamic) + " bytes"));
        EXPECT_TRUE(run(static_cast<int>(dynamic), dynamic, blocks, threads)) << dynamic;
      }
    }
  }
}

TEST_F(CpuBackend, StaticAndDynamicSharedMemoryTogetherHaveALimit) {
  // Another kernel's variables do not count.
  const KernelId kernel = load(R"(
    __global__ void other(float* out) { __shared__ float sums[4096]; sums[threadIdx.x] = out[0]; out[0] = sums[1]; }
    __device__ float sum(float value) { __shared__ float parts[32]; parts[threadIdx.x] = value; return parts[0]; }
    __global__ void kernel(float* out) { extern __shared__ float row[]; row[0] = out[0]; out[0] = sum(row[0]); }
  )");
  const BufferId out = upload(std::vector<float>(1));
  const auto run = [&](unsigned dynamic) {
    return backend().run(
        Launch{.kernel = kernel,
               .steps = {{.geometry = {.dynamic_shared_bytes = dynamic}, .arguments = {out}}}});
  };
  EXPECT_TRUE(run(232448 - 128));
  const auto refused = run(232448 - 124);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
  EXPECT_THAT(refused.error().message,
              HasSubstr("232324 bytes of dynamic and 128 bytes of static shared memory"));
}

TEST_F(CpuBackend, VariablesLargerThanStaticSharedMemoryAreRefusedAsByCuda) {
  const auto loaded = [&](int floats) {
    const auto binary =
        compile("__global__ void kernel(float* out) { __shared__ float sums[" +
                std::to_string(floats) + "]; sums[threadIdx.x] = out[0]; out[0] = sums[1]; }");
    if (!binary) throw std::runtime_error(binary.error().message);
    return backend().load(*binary);
  };
  EXPECT_TRUE(loaded(12288));
  const auto refused = loaded(12289);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::compile_error);
  EXPECT_THAT(refused.error().message,
              HasSubstr("have 49156 bytes, all of a block can have 49152"));
}

TEST_F(CpuBackend, StaticSharedMemoryBeginsAsTheLaunchSays) {
  const KernelId kernel = load(
      R"(__shared__ int of_the_file[2];
         struct Pair { int a, b; __device__ Pair() {} };
         extern __shared__ int dynamic[];
         template <int kCount> __global__ void peek(unsigned* out) {
           __shared__ int array[kCount];
           __shared__ Pair pair;
           static __shared__ unsigned char bytes[3];
           unsigned* const mine = out + 6 * blockIdx.x;
           mine[0] = array[kCount - 1];
           mine[1] = pair.b;
           mine[2] = bytes[2];
           mine[3] = of_the_file[1];
           mine[4] = dynamic[1];
           array[kCount - 1] = pair.b = of_the_file[1] = dynamic[1] = bytes[2] = 7;
           mine[5] = dynamic[1] + pair.b;
         })",
      "peek<50>");
  const BufferId out = upload(std::vector<unsigned>(12));
  Launch launch{
      .kernel = kernel,
      .steps = {{.geometry = {.grid = {2, 1, 1}, .dynamic_shared_bytes = 8}, .arguments = {out}}}};
  for (const unsigned content : {0x01020304U, 0xFFFFFFFFU}) {
    launch.shared_content = content;
    ASSERT_TRUE(backend().run(launch));
    const unsigned byte = content >> 16 & 0xFF;
    EXPECT_THAT(download<unsigned>(out, 12),
                testing::ElementsAre(content, content, byte, content, content, 14,  //
                                     content, content, byte, content, content, 14));
  }
}

TEST_F(CpuBackend, ThreadLocalVariablesOfKernelsForProcessorsAreTheirOwn) {
  const KernelId kernel = load(
      "static thread_local int calls;\n"
      "__global__ void count(int* out) { out[0] = calls++; }",
      "count", {"-DTUNER_STANDARD_MATH"});
  const BufferId out = upload(std::vector<int>{-1});
  ASSERT_TRUE(
      backend().run(Launch{.kernel = kernel, .steps = {{.geometry = {}, .arguments = {out}}}}));
  EXPECT_EQ(download<int>(out, 1).front(), 0);
}

TEST_F(CpuBackend, SaysHowMuchMemoryIsMissing) {
  try {
    static_cast<void>(backend().allocate(std::size_t{1} << 50));
    FAIL() << "a pebibyte was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failure);
    EXPECT_THAT(error.what(), HasSubstr("1125899906842624 bytes"));
  }
}

TEST_F(CpuBackend, TimesEverySample) {
  const KernelId kernel = load(kIncrement);
  const BufferId out = upload(std::vector<int>(1024));
  const auto samples = backend().time(
      Launch{
          .kernel = kernel,
          .steps = {{.geometry = {.grid = {8, 1, 1}, .block = {128, 1, 1}}, .arguments = {out}}}},
      {.warm_up = 2, .samples = 5});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_THAT(*samples, AllOf(SizeIs(5), Each(Field(&Sample::time_ns, Gt(0.0)))));
  EXPECT_THAT(download<int>(out, 1024), Each(7)) << "two warm-ups and five samples";
}

TEST_F(CpuBackend, ASeriesGoesThroughItsWorkInTurn) {
  const KernelId kernel = load(kIncrement);
  std::vector<BufferId> outs;
  std::vector<Work> works;
  for (int i = 0; i < 3; ++i) {
    outs.push_back(upload(std::vector<int>(1024)));
    works.emplace_back(Launch{.kernel = kernel,
                              .steps = {{.geometry = {.grid = {8, 1, 1}, .block = {128, 1, 1}},
                                         .arguments = {outs.back()}}}});
  }
  const auto timed = backend().time_series(works, Lead::load);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_GT(timed->time_ns, 0);
  const int runs = download<int>(outs.front(), 1024).front();
  EXPECT_GT(runs, 1) << "20 ms";
  for (const BufferId out : outs) EXPECT_NEAR(download<int>(out, 1024).front(), runs, 2);
  const auto regimes = backend().time_regimes(works);
  ASSERT_TRUE(regimes && *regimes);
  EXPECT_GT((*regimes)->rested_ns, 0);
  EXPECT_GT((*regimes)->sustained_ns, 0);
}

template <class T>
void expect_library_gemm(Backend& backend, family::ElementType type, auto&& upload,
                         auto&& download) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const BufferId a = upload(std::vector<T>{1, 2, 3, 4, 5, 6});    // 2×3
  const BufferId b = upload(std::vector<T>{1, 0, 0, 1, 2, 2});    // 3×2
  const BufferId c = upload(std::vector<T>{nan, nan, nan, nan});  // 2×2
  LibraryCall call{.operation = {.type = type, .shape = blas::packed_gemm(2, 2, 3)},
                   .operands = {.alpha = 2, .beta = 0, .places = {{a, b, c}}}};
  ASSERT_TRUE(backend.run(call));
  EXPECT_EQ(download(c), (std::vector<T>{14, 16, 32, 34})) << "beta 0 does not read C";
  call.operands.beta = -1;
  ASSERT_TRUE(backend.run(call));
  EXPECT_EQ(download(c), (std::vector<T>{0, 0, 0, 0}));
  const auto samples = backend.time(call, {.warm_up = 1, .samples = 3});
  ASSERT_TRUE(samples);
  EXPECT_THAT(*samples, AllOf(SizeIs(3), Each(Field(&Sample::time_ns, Gt(0.0)))));
}

TEST_F(CpuBackend, LibraryMultipliesRowMajorInSingleAndDoublePrecision) {
  expect_library_gemm<float>(
      backend(), family::ElementType::f32, [this](const auto& v) { return upload(v); },
      [this](BufferId c) { return download<float>(c, 4); });
  expect_library_gemm<double>(
      backend(), family::ElementType::f64, [this](const auto& v) { return upload(v); },
      [this](BufferId c) { return download<double>(c, 4); });
}

TEST_F(CpuBackend, LibraryDoesNotReadANaNOutputOfALargerMatrix) {
  const std::vector<float> ones(90000, 1.0f);
  const BufferId a = upload(ones), b = upload(ones),
                 c = upload(std::vector<float>(90000, std::nanf("")));
  ASSERT_TRUE(backend().run(LibraryCall{
      .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(300, 300, 300)},
      .operands = {.places = {{a, b, c}}}}));
  EXPECT_THAT(download<float>(c, 90000), Each(300.0f));
}

TEST_F(CpuBackend, LibraryRefusesIntegers) {
  const BufferId c = upload(std::vector<int>{0});
  const auto done = backend().run(LibraryCall{
      .operation = {.type = family::ElementType::s32, .shape = blas::packed_gemm(1, 1, 1)},
      .operands = {.places = {{c, c, c}}}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().outcome, Outcome::launch_error);
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

std::string mapped_images() {
  std::ifstream maps("/proc/self/maps");
  std::string found;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(".so (deleted)") != std::string::npos) found += line + '\n';
  }
  return found;
}

TEST_F(CpuBackend, UnloadingLeavesNoFileAndNoMapping) {
  // A static of a function template would keep its image mapped if it were a unique symbol.
  const auto binary = compile(
      "template <int N> __global__ void kernel(int* out) {\n"
      "  __shared__ int values[N];\n"
      "  values[threadIdx.x] = N;\n"
      "  __syncthreads();\n"
      "  out[threadIdx.x] = values[0]; }",
      "kernel<64>");
  ASSERT_TRUE(binary) << binary.error().message;
  const BufferId out = upload(std::vector<int>(64));
  const auto files = open_files();
  for (int round = 0; round < 200; ++round) {
    const auto kernel = backend().load(*binary);
    ASSERT_TRUE(kernel) << kernel.error().message;
    ASSERT_TRUE(backend().run(Launch{
        .kernel = *kernel, .steps = {{.geometry = {.block = {64, 1, 1}}, .arguments = {out}}}}));
    backend().unload(*kernel);
  }
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(mapped_images(), "");
  EXPECT_THAT(download<int>(out, 64), Each(64));
}

TEST_F(CpuBackend, RefusesAnImageThatIsNoSharedObject) {
  const auto kernel =
      backend().load({.image = std::vector<std::byte>(100), .symbols = {"tuner_kernel"}});
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().outcome, Outcome::launch_error);
}

TEST(OpenCpuBackend, SaysHowToGetAHostCompiler) {
  ::setenv("TUNER_HOST_CXX", "/nonexistent/g++", 1);
  try {
    static_cast<void>(open_cpu_backend());
    ADD_FAILURE() << "opened without a compiler";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_THAT(error.what(), HasSubstr("apt-get install g++"));
  }
  EXPECT_THAT(examine_cpu(), testing::Contains(testing::Field(
                                 &Finding::status, testing::Eq(Finding::Status::missing))));
  ::unsetenv("TUNER_HOST_CXX");
}

TEST_F(CpuBackendTest, KernelsForProcessorsMayIncludeStandardHeaders) {
  const std::string source =
      "#include <cmath>\n#include <vector>\n"
      "__global__ void kernel(float* x) { std::vector<float> all(3, 2.0f); *x = all[0]; }";
  EXPECT_FALSE(compile(source)) << "kernels for GPUs get nothing in its place";
  EXPECT_TRUE(compile(source, "kernel", {"-DTUNER_STANDARD_MATH"}));
}

TEST_F(CpuBackendTest, PinnedMemoryIsTheHostsAndAKernelsAtOnce) {
  const PinnedBuffer pinned = backend().allocate_pinned(sizeof(int));
  int* const value = reinterpret_cast<int*>(pinned.bytes.data());
  EXPECT_EQ(*value, 0);
  *value = 20;
  const KernelId kernel = load("__global__ void kernel(int* x) { *x += 22; }");
  ASSERT_TRUE(backend().run(
      Launch{.kernel = kernel, .steps = {{.geometry = {}, .arguments = {pinned.id}}}}));
  EXPECT_EQ(*value, 42);
  backend().release(pinned.id);
}

}  // namespace
}  // namespace tuner::backend
