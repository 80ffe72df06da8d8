// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/device_code.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace tuner::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string left_of(std::string text, std::vector<std::string> roots = {"run"}) {
  return device_code({.name = "k.cu", .text = std::move(text), .headers = {}}, roots).text;
}

const std::string kKernel = "__global__ void run(float* x) { *x = 1; }\n";

TEST(DeviceCode, LeavesOutAHostProgramAndKeepsTheLines) {
  const std::string text =
      "#include <vector>\n"
      "#define CHECK(call) do { if ((call) != 0) exit(1); } while (0)\n"
      "static std::vector<float> values;\n" +
      kKernel +
      "void report(const char* what) { printf(\"} %s\", what); }\n"
      "int main(int argc, char** argv) {\n"
      "  const char quote = '\"';\n"
      "#ifdef LATE\n"
      "  report(R\"(int main() {)\");\n"
      "#endif\n"
      "  run<<<1, 1>>>(nullptr);\n"
      "}\n";
  const std::string left = left_of(text);
  EXPECT_EQ(left.size(), text.size());
  EXPECT_EQ(std::ranges::count(left, '\n'), std::ranges::count(text, '\n'));
  EXPECT_EQ(left.find("__global__"), text.find("__global__"));
  EXPECT_THAT(left,
              AllOf(HasSubstr("#include <vector>"), HasSubstr(kKernel), HasSubstr("#ifdef LATE"),
                    HasSubstr("#define CHECK"), Not(HasSubstr("main")),
                    Not(HasSubstr("std::vector<float>")), Not(HasSubstr("<<<"))));
}

TEST(DeviceCode, KeepsWhatAKernelCanReachByWhateverWay) {
  const std::string used =
      "const int WIDTH = 8;\n"
      "constexpr int div_up(int a, int b) { return (a + b - 1) / b; }\n"
      "struct Pair { float a, b; };\n"
      "typedef Pair Two;\n"
      "template <class T> struct Plus { T operator()(T a, T b) const { return a + b; } };\n"
      "#define HD __host__ __device__\n"
      "#define INLINE HD inline\n"
      "INLINE float twice(float x) { return 2 * x; }\n"
      "#define AREA (WIDTH * height)\n"
      "static const int height = 4;\n"
      "Two operator+(Two a, Two b) { return {a.a + b.a, a.b + b.b}; }\n"
      "template <int N> int entry_only() { return N; }\n"
      "__constant__ float table[AREA];\n"
      "__global__ void run(Two* x) { x[div_up(3, 2)].a = twice(table[0]); }\n";
  const std::string left = left_of(used + "void host(Two* x) { run<<<1, 1>>>(x); }\n",
                                   {"run2<entry_only<3>()>", "-DOP=Plus"});
  EXPECT_EQ(left.substr(0, used.size()), used);
  EXPECT_THAT(left, Not(HasSubstr("void host")));
}

TEST(DeviceCode, LeavesOutAFunctionOfTheSameNameThatLaunches) {
  const std::string left = left_of(
      "__device__ float scale(float x) { return x; }\n"
      "__global__ void run(float* x) { *x = scale(*x); }\n"
      "void scale(float* x, int n) { run<<<n, 1>>>(x); cudaDeviceSynchronize(); }\n");
  EXPECT_THAT(left, AllOf(HasSubstr("return x;"), Not(HasSubstr("cudaDevice"))));
}

TEST(DeviceCode, LeavesOutFunctionsForTheDeviceThatTheEntriesDoNotReach) {
  const std::string left = left_of(
      "__constant__ float table[4];\n"
      "template <class T> struct Traits;\n"
      "template <> struct Traits<float> { __device__ static float one() { return 1; } };\n"
      "struct Tensor { __device__ void load() { nvcuda::load(); } };\n"
      "__device__ float shared(float x) { return x * Traits<float>::one(); }\n"
      "__device__ void wmma() { Tensor().load(); }\n"
      "__launch_bounds__(256) __global__ void other(float* x) { wmma(); }\n"
      "LAUNCH_BOUNDS(256) __global__ void run(float* x) { *x = shared(*x); }\n");
  EXPECT_THAT(left, AllOf(HasSubstr("table"), HasSubstr("one()"), HasSubstr("shared(float"),
                          HasSubstr("void run"), Not(HasSubstr("wmma")), Not(HasSubstr("nvcuda")),
                          Not(HasSubstr("other"))));
}

TEST(DeviceCode, KeepsAllForTheDeviceWhereMacrosMakeNames) {
  for (const std::string text : {"#define CALL(f) f##_of(x)\n"
                                 "__device__ int twice_of(int x) { return 2 * x; }\n"
                                 "__global__ void run(int x) { CALL(twice); }\n",
                                 "#define KERNEL(name) __global__ void name##_run(int* x)\n"
                                 "__device__ int twice_of(int x) { return 2 * x; }\n"
                                 "KERNEL(a) { *x = twice_of(*x); }\n"}) {
    EXPECT_THAT(left_of(text + "int main() { return 0; }\n", {"run", "a_run"}),
                AllOf(HasSubstr("twice_of(int x)"), Not(HasSubstr("main"))));
  }
}

TEST(DeviceCode, KeepsWhatAMacroInsideOfAFunctionMentions) {
  EXPECT_THAT(left_of("__device__ int twice(int x) { return 2 * x; }\n"
                      "__global__ void run(int x) {\n#define TWICE(x) twice(x)\n TWICE(x);\n}\n"
                      "int main() { return 0; }\n"),
              HasSubstr("int twice(int x)"));
}

TEST(DeviceCode, LeavesOutAHostFunctionWithALambdaForTheDevice) {
  const std::string left =
      left_of(kKernel +
              "void host(float* x) { thrust::for_each(x, [=] __device__ (float y) {}); }\n"
              "std::vector<float> prototype(const std::vector<float>& x);\n"
              "namespace fs = std::filesystem;\n");
  EXPECT_THAT(left, AllOf(HasSubstr(kKernel), Not(HasSubstr("host")), Not(HasSubstr("prototype")),
                          Not(HasSubstr("filesystem"))));
}

TEST(DeviceCode, ReadsABraceThatBranchesOpen) {
  const std::string text =
      kKernel +
      "#ifdef WITH_STREAM\nvoid host(float* x, cudaStream_t stream) {\n#else\n"
      "void host(float* x) {\n#endif\n  run<<<1, 1>>>(x);\n}\n"
      "#ifdef OTHER\nint first() { return 1; }\n#else\nint second() { return 2; }\n#endif\n";
  const std::string left = left_of(text);
  EXPECT_EQ(std::ranges::count(left, '\n'), std::ranges::count(text, '\n'));
  EXPECT_THAT(left, AllOf(HasSubstr(kKernel), Not(HasSubstr("host")), Not(HasSubstr("<<<")),
                          Not(HasSubstr("first")), Not(HasSubstr("second"))));
  const KernelSource source{.name = "k.cu", .text = text, .headers = {}};
  EXPECT_EQ(host_code_hint(source), "");
}

TEST(DeviceCode, SaysWhichFileHasBracesThatDoNotMatch) {
  const KernelSource source{.name = "k.cu", .text = kKernel, .headers = {{"a.h", "int f() {\n"}}};
  EXPECT_THAT(host_code_hint(source), HasSubstr("in a.h braces match in no choice of branches"));
}

TEST(DeviceCode, ReadsComparisonsInTemplateArguments) {
  EXPECT_THAT(
      left_of("template <class T, int W> __global__ std::enable_if_t<(W > 0) && is<T>::value>\n"
              "run(T* x) {}\n"
              "template <class T> struct alignas(Traits<T>::kBytes) Pack { T x; };\n"
              "__device__ void pack(Pack<int>* x) {}\n"
              "int main() { return 0; }\n",
              {"run", "pack"}),
      AllOf(HasSubstr("run(T* x)"), HasSubstr("Pack { T x; }"), Not(HasSubstr("main"))));
}

TEST(DeviceCode, LooksIntoNamespacesAndHeaders) {
  const std::vector<std::string> roots = {"run"};
  const KernelSource source = device_code(
      {.name = "k.cu",
       .text = "namespace a { namespace {\n" + kKernel +
               "int unused() { return 1; }\n} }\n"
               "extern \"C\" { void host() { a::run<<<1, 1>>>(0); } }\n",
       .headers = {{"check.h", "inline void check(int code) { if (code) exit(code); }\n"}}},
      roots);
  EXPECT_THAT(source.text, AllOf(HasSubstr(kKernel), Not(HasSubstr("unused")),
                                 Not(HasSubstr("host")), HasSubstr("extern \"C\" {")));
  EXPECT_THAT(source.headers.front().text, Not(HasSubstr("check")));
}

TEST(DeviceCode, IsTheSourceItselfWhereNoFunctionIsUnusedOrBracesDoNotMatch) {
  for (const std::string& text :
       {kKernel + "int unused = 3;\n", kKernel + "int main() { run<<<1, 1>>>(0);\n",
        kKernel + "}\nint main() { run<<<1, 1>>>(0); }\n"}) {
    EXPECT_EQ(left_of(text), text);
  }
}

TEST(DeviceCode, SeesNothingInWhatTheCompilerDoesNotSee) {
  const std::string text =
      "// int main() {\n/* { */\n#if 0\nit's no C++ {\n#endif\n#if LEVEL > 0\n" + kKernel +
      "#endif\nint main() { return 1'000; }\n";
  EXPECT_THAT(left_of(text), AllOf(HasSubstr(kKernel), Not(HasSubstr("return 1"))));
}

/// Each of these takes time that grows with the square of its length when read naively.
TEST(DeviceCode, OfALargeHostileTextTakesLinearTime) {
  constexpr int kCopies = 100'000;
  for (const char* unit :
       {"<", "a<", "R\"", "int f() {}\n", "int a;\n", "int f() { run(); }\n", "operator",
        "#if 0\n#endif\n", "/*", "template<", "int a = 1,", "#define A B\n", "namespace", "("}) {
    std::string text = kKernel;
    for (int i = 0; i < kCopies; ++i) text += unit;
    EXPECT_EQ(left_of(text).size(), text.size()) << unit;
  }
  const std::string unmatched = "int a = operator " + std::string(kCopies * 5, '[') + "();\n";
  EXPECT_EQ(left_of(unmatched + kKernel).size(), unmatched.size() + kKernel.size());
}

TEST(DeviceCode, OfALongChainOfMacrosTakesLinearTime) {
  std::string text;
  constexpr int kMacros = 40'000;
  for (int i = 0; i < kMacros; ++i) {
    text += "#define M" + std::to_string(i) + " M" + std::to_string(i + 1) + "\n";
  }
  text += "#define M" + std::to_string(kMacros) + " __device__\n";
  const std::string used = "M0 int twice(int x) { return 2 * x; }\n";
  const std::string left = left_of(text + used + "int main() { return 0; }\n");
  EXPECT_THAT(left.substr(text.size()), AllOf(HasSubstr(used), Not(HasSubstr("main"))));
}

}  // namespace
}  // namespace tuner::source
