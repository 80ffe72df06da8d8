// SPDX-License-Identifier: Apache-2.0
#include "../support/hostile_sources.hpp"
#include "../support/signatures.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/source/compiled_signature.hpp"
#include "tuner/source/probes.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace tuner::backend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

family::CompileJob job(std::string text, std::string entry) {
  family::CompileJob job;
  job.source.name = "scale.cu";
  job.source.text = std::move(text);
  job.entries = {std::move(entry)};
  return job;
}

const std::string kScale = R"(
template <int kFactor, bool kNegate>
__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= kNegate ? -kFactor : kFactor;
}
)";

std::string message(const Expected<Binary, Failure>& result) {
  if (result) return "compiled";
  EXPECT_EQ(result.error().outcome, Outcome::compile_error);
  return result.error().message;
}

class NvrtcCompilerTest : public testing::Test {
 protected:
  NvrtcCompiler compiler_{"sm_90"};
};

TEST(OptionalNvrtc, IsTheCompilerWhereItIsInstalled) {
  const OptionalNvrtc nvrtc = optional_nvrtc("sm_90");
  EXPECT_EQ(nvrtc.version, NvrtcCompiler("sm_90").version());
  EXPECT_TRUE(nvrtc.compiler->compile(job(kScale, "scale<3,true>")));
}

TEST(OptionalNvrtc, ElsewhereSaysOfEachJobWhatIsMissing) {
  const OptionalNvrtc nvrtc = optional_nvrtc("sm_90", "/nonexistent/libnvrtc.so.1");
  EXPECT_EQ(nvrtc.version, "");
  EXPECT_THAT(message(nvrtc.compiler->compile(job(kScale, "scale<3,true>"))),
              HasSubstr("/nonexistent/libnvrtc.so.1"));
}

TEST_F(NvrtcCompilerTest, MakesACubinOfATemplateInstance) {
  const auto binary = compiler_.compile(job(kScale, "scale<3, true>"));
  ASSERT_TRUE(binary) << message(binary);
  ASSERT_GT(binary->image.size(), 1000U);
  const std::string magic(reinterpret_cast<const char*>(binary->image.data()), 4);
  EXPECT_EQ(magic,
            "\x7f"
            "ELF");
  EXPECT_EQ(binary->symbols, std::vector<std::string>{"_Z5scaleILi3ELb1EEvPfi"});
}

TEST_F(NvrtcCompilerTest, TellsWhatTheParametersOfEntriesAre) {
  family::CompileJob job = testing_support::job_of_signatures();
  const auto binary = compiler_.compile(job);
  ASSERT_TRUE(binary) << message(binary);
  EXPECT_THAT(binary->symbols, SizeIs(job.entries.size()));
  EXPECT_EQ(source::compiled_signatures(binary->image), testing_support::kSignatures);
  job.options = {"-std=c++11"};  // has no templates of variables
  const auto old = compiler_.compile(job);
  ASSERT_TRUE(old) << message(old);
  EXPECT_TRUE(source::compiled_signatures(old->image).empty());
}

TEST_F(NvrtcCompilerTest, AnEntryMayBeAnExpressionThatChoosesAnOverload) {
  const auto binary = compiler_.compile(job(R"(
__global__ void scale(float* data) { *data *= 2; }
__global__ void scale(double* data) { *data *= 2; })",
                                            "(void (*)(double*))scale"));
  ASSERT_TRUE(binary) << message(binary);
  EXPECT_EQ(binary->symbols, std::vector<std::string>{"_Z5scalePd"});
}

TEST(NvrtcCompilerOfAVirtualArchitecture, MakesPtx) {
  const auto binary = NvrtcCompiler("compute_80").compile(job(kScale, "scale<3, true>"));
  ASSERT_TRUE(binary) << message(binary);
  const std::string text(reinterpret_cast<const char*>(binary->image.data()), binary->image.size());
  EXPECT_THAT(text, HasSubstr(".target sm_80"));
  EXPECT_EQ(text.back(), '\0') << "as the driver reads it";
  EXPECT_EQ(binary->symbols, std::vector<std::string>{"_Z5scaleILi3ELb1EEvPfi"});
}

TEST_F(NvrtcCompilerTest, TakesASourceWithProbes) {
  constexpr const char* kSource = R"(
    #define CLAMP(v) ((v) > 255 ? 255 : (v))
    constexpr int half_of(int v) { return v > 1 ? v / 2 : 1; }
    template <bool kScaled> __global__ void __launch_bounds__(kScaled ? 64 : 32) run(int n, const int* x, int* y) {
      __shared__ int part[half_of(128)];
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n || x[i] < 0) return;
      for (int k = 0; k < n && part[k & 63] > 0; ++k) y[i] += kScaled ? 2 : 1;
      switch (x[i]) { case 1: y[i] = CLAMP(x[i]); break; default: y[i] = 0; }
      while (y[i] > 100) y[i] /= 2;
    })";
  family::CompileJob probed = job(kSource, "run<true>");
  probed.source =
      source::with_probes(probed.source, probed.options, source::ProbeExtent::everything).source;
  probed.entries.emplace_back(source::ProbedSource::kReadNotes);
  EXPECT_EQ(message(compiler_.compile(probed)), "compiled");
}

TEST_F(NvrtcCompilerTest, MakesOneCubinOfAllEntries) {
  constexpr const char* kSource = R"(
    template <int kBlock> __global__ void parts(float* x) { x[threadIdx.x] = kBlock; }
    __global__ void total(const float* x, float* y) { *y = *x; })";
  family::CompileJob several = job(kSource, "parts<64>");
  several.entries = {"parts<64>", "total", "parts<64>", "parts<32>"};
  const auto binary = compiler_.compile(several);
  ASSERT_TRUE(binary) << message(binary);
  EXPECT_EQ(binary->symbols,
            (std::vector<std::string>{"_Z5partsILi64EEvPf", "_Z5totalPKfPf", "_Z5partsILi64EEvPf",
                                      "_Z5partsILi32EEvPf"}));
  several.entries = {"parts<64>", "totals"};
  EXPECT_THAT(message(compiler_.compile(several)),
              ::testing::HasSubstr("there is no unique kernel 'totals'"));
}

TEST_F(NvrtcCompilerTest, TakesAPlainFunctionWithOrWithoutCLinkage) {
  const auto plain = compiler_.compile(job("__global__ void run(float* x) { *x = 1; }", "run"));
  ASSERT_TRUE(plain) << message(plain);
  EXPECT_EQ(plain->symbols, std::vector<std::string>{"_Z3runPf"});
  const auto c_linkage =
      compiler_.compile(job("extern \"C\" __global__ void run(float* x) { *x = 1; }", "run"));
  ASSERT_TRUE(c_linkage) << message(c_linkage);
  EXPECT_EQ(c_linkage->symbols, std::vector<std::string>{"run"});
  const auto without_blank =
      compiler_.compile(job("extern \"C\"__global__\nvoid run(float* x) { *x = 1; }", "run"));
  ASSERT_TRUE(without_blank) << message(without_blank);
  EXPECT_EQ(without_blank->symbols, std::vector<std::string>{"run"});
}

/// Two products of 64x8x16, with something between them that may touch the accumulators.
std::string two_products(const std::string& between) {
  constexpr std::string_view kProduct =
      "asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 \"\n"
      "             \"{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\"\n"
      "             : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"(a), "
      "\"l\"(a));\n";
  return std::string(
             "__global__ void run(float* out, unsigned long long a) {\n"
             "  float d[4];\n"
             "  asm volatile(\"\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]));\n"
             "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n") +
         std::string(kProduct) + between + std::string(kProduct) +
         "  asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
         "  asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n"
         "  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];\n"
         "}\n";
}

TEST_F(NvrtcCompilerTest, RefusesProductsOnTensorCoresThatWaitForOneAnother) {
  const auto binary = compiler_.compile(job(two_products(""), "run"));
  ASSERT_TRUE(binary) << message(binary);
  EXPECT_THAT(message(compiler_.compile(job(two_products("d[0] += 1;\n"), "run"))),
              AllOf(StartsWith("scale.cu: refused, because the compiler serialises wgmma\n"),
                    HasSubstr("(C75")));
}

TEST_F(NvrtcCompilerTest, DefinesWhatNvccDefines) {
  const auto binary = compiler_.compile(
      job("#if defined(__NVCC__) && defined(__CUDACC__) && __CUDACC_VER_MAJOR__ >= 11\n"
          "__global__ void run() {}\n#endif\n",
          "run"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcCompilerTest, HasTheFunctionsOfProgrammaticLaunches) {
  for (const char* header : {"", "#include <cuda_runtime.h>\n", "#include <cooperative_groups.h>\n",
                             "#include <cuda_device_runtime_api.h>\n"}) {
    const auto kernel =
        job(std::string(header) +
                "__global__ void run(int* x) { cudaGridDependencySynchronize(); *x = 1; "
                "cudaTriggerProgrammaticLaunchCompletion(); }",
            "run");
    const auto binary = compiler_.compile(kernel);
    EXPECT_TRUE(binary) << header << message(binary);
    const auto older = NvrtcCompiler("sm_80").compile(kernel);
    EXPECT_TRUE(older) << header << message(older);
  }
}

TEST_F(NvrtcCompilerTest, TakesTheToolkitsRandomNumbers) {
  const auto binary = compiler_.compile(
      job("#include <curand.h>\n#include <curand_kernel.h>\n"
          "__global__ void run(float* x) { curandState s; curand_init(1, 2, 3, &s); "
          "*x = curand_uniform(&s); }",
          "run"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcCompilerTest, OffersWhatIsSpecificToTheArchitecture) {
  // setmaxnreg is an error of the assembler for sm_90, and an instruction for sm_90a.
  const auto specific = compiler_.compile(job(
      "__global__ void run() { asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\"); }", "run"));
  EXPECT_TRUE(specific) << message(specific);
  const auto older =
      NvrtcCompiler("sm_80").compile(job("__global__ void run(float* x) { *x = 1; }", "run"));
  EXPECT_TRUE(older) << message(older) << ": there is no sm_80a";
}

TEST_F(NvrtcCompilerTest, ReportsASyntaxErrorWithFileAndLine) {
  const auto result = compiler_.compile(job("__global__ void f(int* x) {\n  *x = 1 +;\n}\n", "f"));
  EXPECT_THAT(message(result), StartsWith("scale.cu(2): error: "));
}

TEST_F(NvrtcCompilerTest, NamesAnEntryThatIsNotInTheSource) {
  EXPECT_THAT(
      message(compiler_.compile(job(kScale, "scales<3, true>"))),
      AllOf(StartsWith("scale.cu: there is no unique kernel 'scales<3, true>'"),
            HasSubstr("identifier \"scales\" is undefined"),
            HasSubstr("#pragma nv_mangled_name scales<3, true>"), Not(HasSubstr("Signature"))));
}

TEST_F(NvrtcCompilerTest, KeepsTheStartOfALongLogInFourKibibytes) {
  std::string text = "__global__ void f() {\n";
  for (int i = 0; i < 90; ++i) text += "  first_unknown_" + std::to_string(i) + " = 1;\n";
  const std::string log = message(compiler_.compile(job(text + "}\n", "f")));
  EXPECT_THAT(log, HasSubstr("first_unknown_0"));
  EXPECT_THAT(log, Not(HasSubstr("first_unknown_89")));
  EXPECT_GT(log.size(), 3500U);
  EXPECT_LE(log.size(), 4096U);
  EXPECT_TRUE(log.ends_with("\n[more]"));
}

TEST_F(NvrtcCompilerTest, NamesTheSourceOfAJobWithAWrongOption) {
  family::CompileJob wrong = job(kScale, "scale<3, true>");
  wrong.options = {"-std=c++1"};
  EXPECT_THAT(message(compiler_.compile(wrong)),
              AllOf(StartsWith("scale.cu: NVRTC_ERROR_INVALID_OPTION"), HasSubstr("--std")));
}

/// These need the toolkit's headers, which lie where this test was built: not to find them is a
/// failure.
class NvrtcToolkitTest : public NvrtcCompilerTest {
 protected:
  void SetUp() override {
    const auto found =
        compiler_.compile(job("#include <vector_types.h>\n__global__ void f() {}", "f"));
    ASSERT_TRUE(found) << found.error().message;
  }
};

TEST_F(NvrtcToolkitTest, OffersItsHeadersAlsoBetweenQuotes) {
  const auto binary = compiler_.compile(job(R"(
#include "cuda_runtime.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <math_constants.h>
namespace cg = cooperative_groups;
__global__ void f(const __half* x, float* y) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float sum = cg::reduce(warp, __half2float(x[threadIdx.x]), cg::plus<float>());
  y[threadIdx.x] = sum + CUDART_PI_F;
})",
                                            "f"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcToolkitTest, OffersBlockPrimitivesByTheHeaderOfAllOfCub) {
  const auto binary = compiler_.compile(job(R"(
#include <cub/cub.cuh>
#include <limits>
__global__ void f(const float* x, float* y) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) *y = std::numeric_limits<float>::max() - sum;
})",
                                            "f"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcToolkitTest, HasTheTypesOfTheStandardLibraryThatNvccIncludes) {
  const auto binary = compiler_.compile(job(R"(
#include <cublas_v2.h>
template <class T, class U>
__device__ typename std::common_type<T, U>::type largest(T a, U b) { return a < b ? b : a; }
__global__ void f(__nv_bfloat16* x) { *x = std::max(largest(1, 2.0f), std::numeric_limits<float>::min()); })",
                                            "f"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcToolkitTest, CompilesAKernelOfAnExtension) {
  const auto binary = compiler_.compile(job(R"(
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <nvtx3/nvToolsExt.h>
#include <pybind11/pybind11.h>
using namespace at;
namespace py = pybind11;
static_assert(CUDA_VERSION >= 12000 && CUDART_VERSION == CUDA_VERSION && INT32_MAX > 0);
struct Context { cudaStream_t stream; };
template <class T> C10_LAUNCH_BOUNDS_1(256) __global__ void scale(T* x, int n, const Context*) {
  const auto twice = [=] __device__ (at::acc_type<T, true> value) { return value * 2; };
  CUDA_KERNEL_LOOP(i, n) x[i] = WARP_SHFL_XOR(twice(__ldg(&x[i])), 1);
}
torch::Tensor forward(torch::Tensor x) {
  scale<c10::Half><<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<c10::Half>());
  thrust::for_each(x, [=] __device__ (int i) { return i; });
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
)",
                                            "scale<c10::Half>"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcCompilerTest, NamesAMissingHeaderAndWhatThereIs) {
  EXPECT_THAT(message(compiler_.compile(job("#include <no/such.h>\n__global__ void f() {}", "f"))),
              AllOf(StartsWith("scale.cu(1): "), HasSubstr("\"no/such.h\""), HasSubstr("CUDA")));
}

TEST_F(NvrtcCompilerTest, CompilesTheKernelOfAWholeProgram) {
  const auto binary = compiler_.compile(job(R"(
#include <cstdio>
#include <iostream>
#include <math.h>
#include <stdlib.h>
#include <vector>
#define CHECK(x) do { if ((x) != cudaSuccess) { fprintf(stderr, "failed"); exit(1); } } while (0)
const int kBlock = 256;
constexpr int div_up(int a, int b) { return (a + b - 1) / b; }
float reference(const std::vector<float>& x);
float reference(const std::vector<float>& x) { return x[0]; }
__global__ void scale(float* x, int n) {
  __shared__ float tile[kBlock];
  const uint32_t i = threadIdx.x;
  tile[i] = x[i];
  __syncthreads();
  if (i < div_up(n, 2)) x[i] = pow(tile[i], 0.5) * std::sqrt(x[i]);
  if (n < 0) printf("%d", n);
}
int main(int argc, char** argv) {
  std::vector<float> x(kBlock);
  float* on_device = nullptr;
  CHECK(cudaMalloc(&on_device, 4 * kBlock));
  scale<<<div_up(kBlock, 256), kBlock>>>(on_device, kBlock);
  std::cout << reference(x) << std::endl;
})",
                                            "scale"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcCompilerTest, HasTheConstantsOfMathAndLimitsWithoutAHeader) {
  const auto binary = compiler_.compile(job(R"(
static_assert(INFINITY > FLT_MAX && NAN != NAN && HUGE_VALF == INFINITY && HUGE_VAL > DBL_MAX);
static_assert(M_PI > 3.14159 && M_PI < 3.1416 && M_SQRT1_2 * M_SQRT2 > 0.999);
static_assert(1 + FLT_EPSILON > 1 && INT_MAX + INT_MIN == -1 && UINT_MAX + 1 == 0 && LLONG_MAX > 0);
static_assert(sizeof(uint64_t) == 8 && CHAR_MIN < 0 && INT64_MIN < 0);
#define M_PI 3
__global__ void f(float* x) { *x = M_PI; })",
                                            "f"));
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcCompilerTest, IncludesTheHeadersOfTheJob) {
  family::CompileJob with_header =
      job("#include \"factor.cuh\"\n__global__ void f(int* x) { *x = kFactor; }", "f");
  with_header.source.headers = {{"factor.cuh", "constexpr int kFactor = FACTOR;\n"}};
  with_header.options = {"-DFACTOR=7"};
  const auto binary = compiler_.compile(with_header);
  EXPECT_TRUE(binary) << message(binary);
}

TEST_F(NvrtcCompilerTest, FindsNoFileThatTheJobDoesNotBring) {
  family::CompileJob outside = job("#include \"CMakeLists.txt\"\n__global__ void f() {}", "f");
  outside.source.name = TUNER_SOURCE_DIR "/scale.cu";
  EXPECT_THAT(message(compiler_.compile(outside)), HasSubstr("open source file"));
}

TEST_F(NvrtcCompilerTest, ReadsNoFileThatASourceOrAHeaderTriesToReach) {
  for (const char* text : testing_support::kHostileSources) {
    const family::CompileJob hostile = job(std::string(text) + "__global__ void f() {}", "f");
    EXPECT_THAT(message(compiler_.compile(hostile)), StartsWith("scale.cu:")) << text;
    family::CompileJob by_header = job("#include \"a.cuh\"\n__global__ void f() {}", "f");
    by_header.source.headers = {{"a.cuh", text}};
    EXPECT_THAT(message(compiler_.compile(by_header)), StartsWith("a.cuh:")) << text;
  }
}

TEST_F(NvrtcCompilerTest, CompilesCxx17UnlessTheJobNamesAnotherStandard) {
  family::CompileJob standard =
      job("static_assert(__cplusplus == EXPECTED);\n__global__ void f() {}", "f");
  standard.options = {"-DEXPECTED=201703L"};
  EXPECT_EQ(message(compiler_.compile(standard)), "compiled");
  standard.options = {"-DEXPECTED=202002L", "--std=c++20"};
  EXPECT_EQ(message(compiler_.compile(standard)), "compiled");
}

TEST_F(NvrtcCompilerTest, MakesEqualImagesOfEqualJobsOnFourThreadsAtOnce) {
  std::vector<std::vector<std::byte>> images(4);
  {
    std::vector<std::jthread> threads;
    for (auto& image : images) {
      threads.emplace_back([&] {
        const auto binary = compiler_.compile(job(kScale, "scale<5, false>"));
        if (binary) image = binary->image;
      });
    }
  }
  ASSERT_THAT(images[0], Not(SizeIs(0)));
  for (const auto& image : images) EXPECT_EQ(image, images[0]);
}

TEST_F(NvrtcCompilerTest, SaysItsVersion) {
  EXPECT_THAT(compiler_.version(), StartsWith("NVRTC 1"));
}

TEST(NvrtcCompilerForAnArchitectureItDoesNotKnow, SaysWhichItKnowsAndWhatToInstall) {
  const auto newer = NvrtcCompiler("sm_999").compile(job(kScale, "scale<3, true>"));
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().outcome, Outcome::compile_error);
  EXPECT_THAT(newer.error().message,
              testing::MatchesRegex("NVRTC 1[0-9.]+ does not compile for sm_999, only for sm_.*"
                                    "sm_90.*: install a newer CUDA Toolkit"));
  const NvrtcCompiler compiler("sm_90");
  EXPECT_THAT(compiler.why_not_for("sm_20"), testing::EndsWith("install an older CUDA Toolkit"));
  EXPECT_EQ(compiler.why_not_for("sm_90"), "");
  EXPECT_EQ(compiler.why_not_for("compute_80"), "");
}

}  // namespace
}  // namespace tuner::backend
