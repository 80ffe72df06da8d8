// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/compiler_log.hpp"

#include <gtest/gtest.h>

namespace tuner::backend {
namespace {

/// As g++ 12 has it for an entry that is not there.
constexpr const char* kUnknownEntry =
    "In file included from <command-line>:\n"
    "kernel entry:1:21: error: 'scal' was not declared in this scope; did you mean 'scale'?\n"
    "cuda_on_cpu.hpp:282:42: note: in definition of macro 'TUNER_EXPORT_KERNEL'\n"
    "cuda_on_cpu.hpp:282:53: error: expected primary-expression before ')' token\n"
    "kernel entry:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n"
    "kernel entry: In function 'void tuner::enter(KernelContext&, void* const*)':\n"
    "cuda_on_cpu.hpp:285:5: error: 'KernelType' has not been declared\n"
    "kernel entry:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n"
    "kernel entry:1:21: error: 'scal' was not declared in this scope; did you mean 'scale'?\n"
    "cuda_on_cpu.hpp:285:23: note: in definition of macro 'TUNER_EXPORT_KERNEL'\n"
    "kernel entry:1:1: note: 'tuner::of_tuner_kernel_0::Type' declared here\n"
    "kernel entry: At global scope:\n"
    "cuda_on_cpu.hpp:289:28: error: 'tuner::KernelType' has not been declared\n"
    "kernel entry:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n";

TEST(CompilerLog, SaysAMistakeInTheEntryOnce) {
  EXPECT_EQ(
      without_export(kUnknownEntry),
      "kernel entry:1:21: error: 'scal' was not declared in this scope; did you mean 'scale'?\n");
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
      "kernel entry:1:1: note: in expansion of macro 'TUNER_EXPORT_KERNEL'\n";
  EXPECT_EQ(without_export(log), log);
}

}  // namespace
}  // namespace tuner::backend
