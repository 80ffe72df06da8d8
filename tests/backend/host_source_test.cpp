// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_source.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace tuner::backend {
namespace {

using testing::HasSubstr;

std::string pointer(const std::string& type, const std::string& name) {
  return "thread_local " + type + "* const " + name + " = static_cast<" + type +
         "*>(::tuner::context->dynamic_shared);";
}

TEST(HostSource, MakesDynamicSharedArraysPointers) {
  EXPECT_EQ(host_source("extern __shared__ float tile[];"), pointer("float", "tile"));
  EXPECT_EQ(host_source("extern __shared__ unsigned long long s [ ] ;"),
            pointer("unsigned long long", "s"));
  EXPECT_EQ(host_source("extern __shared__ __align__(16) char s[];"), pointer("char", "s"));
  EXPECT_EQ(host_source("extern __align__(sizeof(int4) * (1 + 1)) __shared__ char s[];"),
            pointer("char", "s"));
  EXPECT_EQ(host_source("extern __shared__ std::pair<int, a::b> s[];"),
            pointer("std::pair<int, a::b>", "s"));
  EXPECT_EQ(host_source("#define SMEM extern __shared__ T s[]; int x\nSMEM"),
            "#define SMEM " + pointer("T", "s") + " int x\nSMEM");
}

TEST(HostSource, LeavesOtherDeclarationsAndTextAlone) {
  for (const char* source :
       {"extern __shared__ float tile[4];", "extern __shared__ float a, b[];", "extern float x[];",
        "// extern __shared__ float tile[];",
        "const char* s = \"extern __shared__ float tile[];\";", "extern __shared__ float",
        "extern __shared__ [];", "extern __shared__ s[];"}) {
    EXPECT_EQ(host_source(source), source);
  }
}

TEST(HostSource, MovesAlignmentsBeforeSharedAndStaticFromConstants) {
  EXPECT_EQ(host_source("__shared__ alignas(16) float x[4];"),
            "alignas(16) __shared__ float x[4];");
  EXPECT_EQ(host_source("static __constant__ float c;"), "__constant__ float c;");
  EXPECT_EQ(host_source("__constant__ static float c;"), "__constant__ float c;");
}

TEST(HostSource, LinesKeepTheirNumbers) {
  const std::string source =
      host_source("extern\n__shared__ // of floats\nfloat\n tile[];\nint next;");
  EXPECT_EQ(std::count(source.begin(), source.end(), '\n'), 4);
  EXPECT_THAT(source, HasSubstr(pointer("float", "tile")));
  EXPECT_TRUE(source.ends_with("\nint next;"));
  const std::string macro =
      host_source("#define A extern \\\n __shared__ float t[]; \\\n int y\nint z;");
  EXPECT_EQ(std::count(macro.begin(), macro.end(), '\n'), 3);
}

/// A regular expression's matcher would take a stack frame for each character.
TEST(HostSource, ReadsAnyLengthOfHostileText) {
  constexpr std::size_t kLong = 300'000;
  const std::string words = "extern __shared__ " + std::string(kLong, 'x');
  EXPECT_EQ(host_source(words), words);
  std::string repeated, nested = "extern __align__";
  for (int i = 0; i < 20'000; ++i) repeated += "extern __shared__ float x ";
  EXPECT_EQ(host_source(repeated), repeated);
  nested += std::string(kLong, '(');
  EXPECT_EQ(host_source(nested), nested);
  const std::string marks = std::string(kLong, '#');
  EXPECT_EQ(host_source(marks), marks);
}

/// As g++ 12 has it for an entry that is not there.
constexpr const char* kUnknownEntry =
    "In file included from <command-line>:\n"
    "kernel entry scal<4>:1:21: error: 'scal' was not declared in this scope; did you mean "
    "'scale'?\n"
    "cuda_on_cpu.hpp:282:42: note: in definition of macro 'TUNER_EXPORT_KERNEL'\n"
    "cuda_on_cpu.hpp:282:53: error: expected primary-expression before ')' token\n"
    "kernel entry scal<4>:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n"
    "kernel entry scal<4>: In function 'void tuner::enter(KernelContext&, void* const*)':\n"
    "cuda_on_cpu.hpp:285:5: error: 'KernelType' has not been declared\n"
    "kernel entry scal<4>:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n"
    "kernel entry scal<4>:1:21: error: 'scal' was not declared in this scope; did you mean "
    "'scale'?\n"
    "cuda_on_cpu.hpp:285:23: note: in definition of macro 'TUNER_EXPORT_KERNEL'\n"
    "kernel entry scal<4>:1:1: note: 'tuner::of_tuner_kernel_0::Type' declared here\n"
    "kernel entry scal<4>: At global scope:\n"
    "cuda_on_cpu.hpp:289:28: error: 'tuner::KernelType' has not been declared\n"
    "kernel entry scal<4>:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n";

TEST(CompilerLog, SaysAMistakeInTheEntryOnce) {
  EXPECT_EQ(without_export(kUnknownEntry),
            "kernel entry scal<4>:1:21: error: 'scal' was not declared in this scope; did you mean "
            "'scale'?\n");
}

TEST(CompilerLog, SaysWhyATemplateDoesNotTakeAnEntrysArguments) {
  EXPECT_EQ(
      without_export("kernel entry fill<4, float>: At global scope:\n"
                     "kernel entry fill<4, float>:1:1: error: 'decltype' cannot resolve address of "
                     "overloaded function\n"
                     "kernel entry fill<4, float>:1:1: error: template argument 1 is invalid\n"),
      "kernel entry fill<4, float>:1:1: error: no template takes these arguments: compare their "
      "order and kinds with its parameters\n");
}

TEST(CompilerLog, KeepsWhatIsAboutTheKernel) {
  const std::string log =
      "scale.cu: In function 'void scale(int, const float*, float*)':\n"
      "scale.cu:3:43: error: no matching function for call to '__shfl_sync(int)'\n"
      "cuda_on_cpu.hpp:139:10: note: candidate: 'T __shfl_sync(unsigned int, T, int, int)'\n"
      "cuda_on_cpu.hpp:139:10: note:   template argument deduction failed:\n";
  EXPECT_EQ(without_export(log), log);
}

TEST(CompilerLog, KeepsErrorsThatStandInOurCodeAlone) {
  const std::string log =
      "cuda_on_cpu.hpp:282:53: error: a parameter is no object\n"
      "kernel entry scal<4>:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n";
  EXPECT_EQ(without_export(log), log);
}

}  // namespace

}  // namespace tuner::backend
