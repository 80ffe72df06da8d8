// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/space_draft.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tuner::family {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Json draft(const std::string& source, const std::string& kernel = "") {
  const std::string text = space_draft(source, "k.cu", kernel);
  // Everything that reads a space file reads it.
  static_cast<void>(parse_family(text, "k.json", {{"k", {}}, {"k_reference", {}}}));
  return parse_json(text, "k.json");
}

std::string message(const std::string& source, const std::string& kernel = "") {
  try {
    static_cast<void>(space_draft(source, "k.cu", kernel));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

TEST(SpaceDraft, TakesTheArgumentsOfTheSignature) {
  const Json space = draft(
      "__global__ void k(int rows, unsigned int columns, float alpha, const float* __restrict__ "
      "x,\n"
      "                  double *y, const int4* indices, size_t stride, long long more) {}");
  EXPECT_EQ(space["problem"]["dims"], Json::array({"ROWS", "COLUMNS", "STRIDE"}));
  const Json& arguments = space["arguments"];
  ASSERT_EQ(arguments.size(), 8U);
  EXPECT_EQ(arguments[0], Json({{"name", "rows"}, {"type", "int"}, {"value", "ROWS"}}));
  EXPECT_EQ(arguments[1]["type"], "unsigned");
  EXPECT_EQ(arguments[2]["value"], 1);
  EXPECT_EQ(arguments[3]["type"], "float*");
  EXPECT_FALSE(arguments[3].contains("role"));
  EXPECT_EQ(arguments[4]["type"], "double*");
  EXPECT_EQ(arguments[4]["role"], "inout");
  EXPECT_EQ(arguments[5]["count"], "4*ROWS*COLUMNS*STRIDE");
  EXPECT_EQ(arguments[6]["type"], "unsigned long long");
  EXPECT_EQ(arguments[7]["value"], 1);  // a fourth integer is no dimension
}

TEST(SpaceDraft, TheGridHasTheAxesThatTheKernelReads) {
  const auto grid = [](const std::string& body) {
    const Json space = draft("__global__ void k(int d, int h, int w, float* x) {" + body + "}");
    EXPECT_EQ(space["kernels"]["k_reference"]["launch"]["grid"].size(),
              space["kernels"]["k"]["launch"]["grid"].size());
    return space["kernels"]["k"]["launch"]["grid"];
  };
  EXPECT_EQ(grid("x[blockIdx.x] = 0;"), Json::array({"ceil_div(D*H*W, THREADS)"}));
  EXPECT_EQ(grid("x[blockIdx.y * w + blockIdx.x] = 0;"),
            Json::array({"ceil_div(H*W, THREADS)", "D"}));
  EXPECT_EQ(grid("if (d) { x[(blockIdx.z * h + blockIdx.y) * w] = 0; }"),
            Json::array({"ceil_div(W, THREADS)", "H", "D"}));
  const Json one = draft("__global__ void k(int n, float* x) { x[blockIdx.y] = 0; }");
  EXPECT_EQ(one["kernels"]["k"]["launch"]["grid"], Json::array({"ceil_div(N, THREADS)"}));
}

TEST(SpaceDraft, NamespacesAndDynamicSharedMemoryAreTakenOver) {
  const std::string source = R"(
    namespace a::b { namespace { namespace c {
    template <int BLOCK> __global__ void f(const float* x, float* y, int n) {
      extern __shared__ __align__(16) double sums[];
    }
    } } })";
  const std::string draft = space_draft(source, "f.cu", "");
  EXPECT_THAT(draft, HasSubstr("\"entry\": \"a::b::c::f<${BLOCK}>\""));
  EXPECT_THAT(draft, HasSubstr("\"block\": [\"BLOCK\"], \"dynamic_shared_bytes\": \"8*BLOCK\"}"));
  EXPECT_THAT(draft, HasSubstr("; bytes of extern __shared__ memory"));
}

TEST(SpaceDraft, TemplateParametersAreTuned) {
  const Json space = draft(
      "template <typename T, int BLOCK, bool FAST = false, int ITEMS = (2 > 1 ? 4 : 1)>\n"
      "static __global__ void k(int n, const T* x, T* y) {}");
  const Json& kernel = space["kernels"]["k"];
  EXPECT_EQ(kernel["entry"], "k<float,${BLOCK},${FAST},${ITEMS}>");
  EXPECT_EQ(kernel["parameters"]["BLOCK"]["pow2"], Json::array({32, 1024}));
  EXPECT_EQ(kernel["parameters"]["FAST"]["values"], Json::array({false, true}));
  EXPECT_EQ(kernel["launch"]["block"], Json::array({"BLOCK"}));
  EXPECT_EQ(space["kernels"]["k_reference"]["entry"], "k<float,256,false,1>");
  EXPECT_EQ(space["arguments"][1]["type"], "float*");
}

TEST(SpaceDraft, TheLaunchBoundNamesTheBlock) {
  for (const char* source :
       {"template <typename T, int B> __global__ void __launch_bounds__(B) k(int n, T* y) {}",
        "template <class T, int B> __launch_bounds__(B, 2) __global__ void k(int n, T* y) {}"}) {
    const Json space = draft(source);
    const Json& kernel = space["kernels"]["k"];
    EXPECT_EQ(kernel["launch"]["block"], Json::array({"B"}));
    EXPECT_EQ(kernel["launch"]["grid"], Json::array({"ceil_div(N, B)"}));
    EXPECT_EQ(kernel["parameters"]["B"]["pow2"], Json::array({32, 1024}));
    EXPECT_FALSE(kernel["parameters"].contains("THREADS"));
    EXPECT_EQ(space["kernels"]["k_reference"]["entry"], "k<float,256>");
  }
  const Json macro = draft(
      "#ifndef WIDTH\n#define WIDTH 64\n#endif\n"
      "__global__ void __launch_bounds__(WIDTH) k(int n, float* y) {}");
  EXPECT_EQ(macro["kernels"]["k"]["launch"]["block"], Json::array({"WIDTH"}));
}

TEST(SpaceDraft, KernelsThatNoCompilerReadsAreNone) {
  const std::string live = "__global__ void k(int n, float* y) {}\n";
  for (const char* dead :
       {"#ifdef NOPE\n__global__ void other(float* y) {}\n#endif\n",
        "#if 0\n__global__ void other(float* y) {}\n#endif\n",
        "#if 0\n#ifdef __CUDACC__\n__global__ void other(float* y) {}\n#endif\n#endif\n"}) {
    EXPECT_EQ(draft(dead + live)["family"], "k") << dead;
  }
  EXPECT_THAT(
      message("#define YES\n#ifdef YES\n__global__ void other(float* y) {}\n#endif\n" + live),
      HasSubstr("has 2 kernels"));
  EXPECT_EQ(draft("#ifdef NOPE\n__global__ void other(float* y) {}\n#else\n" + live +
                  "#endif\n")["family"],
            "k");
}

TEST(SpaceDraft, AttributesMayStandBeforeTheKernelsSpecifier) {
  const Json space = draft(
      "template <class Config, class Op = Add, int ITEMS = 2>\n"
      "__launch_bounds__(128) __attribute__((used)) __global__ static void k(int n, float* y) {}");
  const Json& kernel = space["kernels"]["k"];
  EXPECT_EQ(kernel["entry"], "k<float,float,${ITEMS}>");
  EXPECT_EQ(kernel["parameters"]["THREADS"]["pow2"], Json::array({32, 128}));
}

TEST(SpaceDraft, MacrosThatAreGuardedAreTuned) {
  const Json space = draft(
      "#ifndef TILE\n#define TILE 16\n#endif\n#define FIXED 3\n"
      "extern \"C\" __global__ void __launch_bounds__(128) k(float* y) {}");
  const Json& parameters = space["kernels"]["k"]["parameters"];
  EXPECT_EQ(parameters["TILE"]["kind"], "define");
  EXPECT_EQ(parameters["TILE"]["default"], 16);
  EXPECT_FALSE(parameters.contains("FIXED"));
  EXPECT_EQ(parameters["THREADS"]["pow2"], Json::array({32, 128}));
  EXPECT_EQ(parameters["THREADS"]["default"], 128);
  EXPECT_EQ(space["problem"]["dims"], Json::array({"N"}));
}

TEST(SpaceDraft, SaysHowFixedMacrosBecomeParameters) {
  const auto text_of = [](std::string_view macros) {
    return space_draft(std::string(macros) + "__global__ void k(int n, float* y) {}", "k.cu", "");
  };
  EXPECT_THAT(text_of("#define TILE 16\n#define PADDED 1\n#define PI 3.14\n"),
              testing::AllOf(HasSubstr("Fixed in the source: TILE = 16, PADDED = 1."),
                             HasSubstr("`#ifndef TILE`")));
  EXPECT_THAT(text_of("#ifndef TILE\n#define TILE 16\n#endif\n"), Not(HasSubstr("Fixed")));
}

TEST(SpaceDraft, ANameIsNotUsedTwice) {
  const Json space = draft("template <int N> __global__ void k(int n, int threads, float* y) {}");
  EXPECT_EQ(space["problem"]["dims"], Json::array({"N_SIZE", "THREADS_SIZE"}));
}

TEST(SpaceDraft, BoolIsAByteOfZeroOrOne) {
  const Json space = draft("__global__ void k(int n, bool on, const bool* mask, bool* out) {}");
  EXPECT_EQ(space["problem"]["dims"], Json::array({"N"}));
  const Json& arguments = space["arguments"];
  EXPECT_EQ(arguments[1], Json({{"name", "on"}, {"type", "unsigned char"}, {"value", 1}}));
  EXPECT_EQ(arguments[2]["type"], "unsigned char*");
  EXPECT_EQ(arguments[2]["fill"], Json({{"integers", {0, 1}}}));
  EXPECT_EQ(arguments[3]["role"], "inout");
  EXPECT_EQ(arguments[3]["fill"], Json({{"integers", {0, 1}}}));
}

TEST(SpaceDraft, AStructOfNumbersOfOneTypeIsTheNumbers) {
  const std::string kernel =
      "__global__ void k(int n, const Pixel* in, struct Pixel by_value, float* out) {}";
  const Json space = draft("struct Pixel { float r, g, b; float rest[2], last; };\n" + kernel);
  const Json& arguments = space["arguments"];
  EXPECT_EQ(arguments[1], Json({{"name", "in"}, {"type", "float*"}, {"count", "6*N"}}));
  EXPECT_EQ(arguments[2], Json({{"name", "by_value"}, {"type", "float[]"}, {"count", 6}}));
  for (const char* members :
       {"float x; int y;", "float* x;", "float x[N];", "float x : 3;", "float x", "", "float;",
        "static const int x = 3;", "float x[2][2];", "T x;", "float x, *y;", "float f();"}) {
    EXPECT_THAT(message("struct Pixel {" + std::string(members) + "};\n" + kernel),
                HasSubstr(" of k is of type 'Pixel'"))
        << members;
  }
}

TEST(SpaceDraft, AVectorIsItsNumbersAsAlignedAsItIs) {
  const Json space = draft(
      "__global__ void k(int n, const float4* in, uchar4* out, const float3* p, float2 scale) {}");
  const Json& arguments = space["arguments"];
  EXPECT_EQ(arguments[1],
            Json({{"name", "in"}, {"type", "float*"}, {"count", "4*N"}, {"align", 16}}));
  EXPECT_EQ(arguments[2], Json({{"name", "out"},
                                {"type", "unsigned char*"},
                                {"count", "4*N"},
                                {"align", 4},
                                {"role", "inout"}}));
  EXPECT_EQ(arguments[3], Json({{"name", "p"}, {"type", "float*"}, {"count", "3*N"}}));
  EXPECT_EQ(arguments[4], Json({{"name", "scale"}, {"type", "float[]"}, {"count", 2}}));
}

TEST(SpaceDraft, AStructOfIntegersHasKnownContent) {
  const Json space = draft("struct Shape { int w, h; };\n__global__ void k(Shape s, float* y) {}");
  EXPECT_EQ(space["arguments"][0],
            Json({{"name", "s"}, {"type", "int[]"}, {"count", 2}, {"fill", {{"values", {1, 1}}}}}));
}

TEST(SpaceDraft, SaysWhatItCannotDo) {
  EXPECT_THAT(message("void host() {}"), HasSubstr("k.cu: has no __global__ function"));
  const std::string two = "__global__ void first(float* x); __global__ void second(float* x) {}";
  EXPECT_THAT(message(two), HasSubstr("name one with --kernel: first, second"));
  EXPECT_THAT(message(two, "secnd"), HasSubstr("did you mean 'second'?"));
  EXPECT_THAT(
      message("__global__ void k(const Pixel* in) {}"),
      AllOf(HasSubstr("'in' of k is of type 'Pixel'"), HasSubstr("docs/reference/types.md")));
  EXPECT_THAT(message("__global__ void k(float** rows) {}"), HasSubstr("points to pointers"));
  EXPECT_NE(message("__global__"), "");
  EXPECT_NE(message("__global__ void k("), "x");  // whatever it says, it ends
}

/// Each of these takes time that grows with the square of its length when read naively.
TEST(SpaceDraft, OfALargeHostileTextTakesLinearTime) {
  constexpr int kCopies = 60'000;
  const std::string kernel = "__global__ void k(int n, float* y) {}\n";
  for (const char* unit :
       {"__global__ ", "__global__ f(){", "__global__ f(", "(", "<", "template<",
        "> __global__ f() ", "__global__ __a(", "struct a {", "struct a { float x;", "a "}) {
    std::string text = kernel;
    for (int i = 0; i < kCopies; ++i) text += unit;
    EXPECT_EQ(draft(text, "k")["arguments"].size(), 2U) << unit;
  }
  std::string names, types = "class T0", values = "T0 v0";
  for (int i = 1; i < kCopies; ++i) {
    const std::string number = std::to_string(i);
    names += "__global__ void f" + number + "(int n) {}\n";
    types += ", class T" + number;
    values += ", T" + number + " v" + number;
  }
  EXPECT_EQ(draft(names + kernel, "k")["arguments"].size(), 2U);
  const std::string text = "template <" + types + "> __global__ void k(" + values + ") {}";
  EXPECT_THAT(space_draft(text, "k.cu", "k"), HasSubstr("v" + std::to_string(kCopies - 1)));
}

}  // namespace
}  // namespace tuner::family
