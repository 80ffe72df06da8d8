// SPDX-License-Identifier: Apache-2.0
// The process that compiles is killed. A run has one for the cuda backend alone, which needs a GPU;
// the same program with the host's compiler behind it needs none.
#include "tuner/core/file.hpp"
#include "tuner/worker/process_compiler.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tuner {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class CompileWorkerKilled : public testing::TestWithParam<const char*> {
 protected:
  CompileWorkerKilled() {
    ::setenv("TUNER_KILL_AT", (std::string("worker ") + GetParam() + " 1").c_str(), 1);
    ::setenv("TUNER_KILL_LATCH", latch_.c_str(), 1);
    ::setenv("TUNER_SANDBOX", "off", 1);  // the worker writes the latch
  }
  ~CompileWorkerKilled() override {
    ::unsetenv("TUNER_KILL_AT");
    ::unsetenv("TUNER_KILL_LATCH");
    ::unsetenv("TUNER_SANDBOX");
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path latch_ = directory_.path() / "latch";
};

TEST_P(CompileWorkerKilled, FailsItsCandidateAndNoOther) {
  const worker::ProcessCompiler compiler({TUNE_KILLABLE, "worker", "compile", "cpu", ""}, 60s);
  const family::CompileJob job{
      .source = {.name = "k.cu", .text = "__global__ void k(int* x) { *x = 1; }", .headers = {}},
      .entries = {"k"},
      .options = {},
      .key = "k"};
  const auto killed = compiler.compile(job);
  EXPECT_TRUE(std::filesystem::exists(latch_)) << "the point was not reached";
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().outcome, Outcome::compile_error);
  EXPECT_THAT(killed.error().message, HasSubstr("signal 9"));
  const auto next = compiler.compile(job);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_FALSE(next->image.empty());
}

INSTANTIATE_TEST_SUITE_P(AtEveryPoint, CompileWorkerKilled,
                         testing::Values("worker.job_taken", "backend.unit_written",
                                         "backend.compiler_ended", "worker.job_done"));

}  // namespace
}  // namespace tuner
