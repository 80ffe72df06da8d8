// SPDX-License-Identifier: Apache-2.0
// NVRTC in processes of tuner-compile, on sources that no application should compile in its own. It
// needs no GPU.
#include "tuner/backend/helper_compiler.hpp"

#include "tests/support/endless_sources.hpp"
#include "tuner/backend/registry.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>

namespace tuner::backend {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class HelperCompilerTest : public testing::Test {
 protected:
  [[nodiscard]] HelperCompiler compiler(const HelperLimits& limits = {}) const {
    return {compile_helper().value(), own_->helper_arguments(), limits};
  }

  std::unique_ptr<const Compiler> own_ = make_compiler("cuda", "sm_90", 60s);
};

TEST_F(HelperCompilerTest, MakesWhatThisProcessWouldMake) {
  const family::CompileJob job = accumulators(4);
  const auto binary = compiler().compile(job);
  ASSERT_TRUE(binary) << binary.error().message;
  const auto own = own_->compile(job);
  ASSERT_TRUE(own);
  EXPECT_EQ(binary->image, own->image);
  EXPECT_EQ(binary->symbols, own->symbols);
}

TEST_F(HelperCompilerTest, BringsBackWhatTheCompilerSays) {
  const auto binary =
      compiler().compile(job_of("__global__ void broken() { none = 1; }", "broken"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().outcome, Outcome::compile_error);
  EXPECT_THAT(binary.error().message, HasSubstr("identifier \"none\" is undefined"));
}

TEST_F(HelperCompilerTest, ACompilationThatDoesNotEndIsKilledAtTheDeadline) {
  const auto start = std::chrono::steady_clock::now();
  const auto late = compiler({.deadline = 2s}).compile(accumulators(96));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().outcome, Outcome::compile_timeout);
  EXPECT_THAT(late.error().message, HasSubstr("2 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST_F(HelperCompilerTest, ASourceThatExceedsTheMemoryLimitFailsAlone) {
  const auto eaten = compiler({.memory_bytes = 1 << 30}).compile(large_array());
  ASSERT_FALSE(eaten);
  EXPECT_EQ(eaten.error().outcome, Outcome::compile_error);
  EXPECT_THAT(eaten.error().message, HasSubstr("its memory is limited to 1024 MiB"));
}

TEST_F(HelperCompilerTest, KeepsToTheMemoryThatItIsGiven) {
  const auto small = compiler({.memory_bytes = 64 << 20}).compile(accumulators(4));
  ASSERT_FALSE(small) << "NVRTC alone is larger";
  EXPECT_EQ(small.error().outcome, Outcome::compile_error);
}

TEST_F(HelperCompilerTest, AHelperWithoutAnAnswerIsAFailure) {
  const auto silent = HelperCompiler("/bin/true", {}, {}).compile(accumulators(4));
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("ended with exit code 0 without a result"));
  const auto wrong = HelperCompiler("/bin/echo", {"C"}, {}).compile(accumulators(4));
  ASSERT_FALSE(wrong) << "what says that it is a kernel is checked";
  const auto none = HelperCompiler("/no/such/helper", {}, {}).compile(accumulators(4));
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().is_transient);
}

TEST_F(HelperCompilerTest, WorksWhereTheApplicationIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto binary = compiler().compile(accumulators(4));
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(binary) << binary.error().message;
}

}  // namespace
}  // namespace tuner::backend
