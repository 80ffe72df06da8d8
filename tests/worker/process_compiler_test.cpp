// SPDX-License-Identifier: Apache-2.0
// NVRTC in processes of its own, on sources that no compiler survives. It needs no GPU.
#include "tuner/worker/process_compiler.hpp"

#include "tests/support/endless_sources.hpp"

#include <gmock/gmock.h>

namespace tuner::worker {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class ProcessCompilerTest : public testing::Test {
 protected:
  [[nodiscard]] static ProcessCompiler compiler(std::chrono::seconds deadline) {
    return {{TUNER_FAKE_WORKER, "worker", "compile", "cuda", "sm_90"}, deadline};
  }
};

TEST_F(ProcessCompilerTest, BringsBackTheBinary) {
  const auto binary = compiler(60s).compile(accumulators(4));
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_GT(binary->image.size(), 1000U);
  EXPECT_THAT(binary->symbols.at(0), HasSubstr("accumulate"));
}

TEST_F(ProcessCompilerTest, BringsBackWhatTheCompilerSays) {
  const auto binary =
      compiler(60s).compile(job_of("__global__ void broken() { none = 1; }", "broken"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.error().message, HasSubstr("identifier \"none\" is undefined"));
}

TEST_F(ProcessCompilerTest, ACompilationThatDoesNotEndFailsAloneAtItsDeadline) {
  const ProcessCompiler patient = compiler(2s);
  const auto bomb = patient.compile(accumulators(96));
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().outcome, Outcome::compile_timeout);
  EXPECT_THAT(bomb.error().message, HasSubstr("2 s"));
  EXPECT_TRUE(patient.compile(accumulators(4))) << "by another process";
}

TEST_F(ProcessCompilerTest, ASourceThatExceedsTheMemoryLimitFailsAlone) {
  const ProcessCompiler patient = compiler(300s);  // on a busy machine
  const auto eaten = patient.compile(large_array());
  ASSERT_FALSE(eaten);
  EXPECT_EQ(eaten.error().outcome, Outcome::compile_error);
  EXPECT_THAT(eaten.error().message, HasSubstr("out of memory"));
  EXPECT_TRUE(patient.compile(accumulators(4)));
}

TEST_F(ProcessCompilerTest, ACompilerThatCrashesFailsItsCandidate) {
  const ProcessCompiler dying({TUNER_FAKE_WORKER, "start=die"}, 60s);
  const auto binary = dying.compile(accumulators(4));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.error().message, HasSubstr("the compiler ended with exit code 7"));
}

}  // namespace
}  // namespace tuner::worker
