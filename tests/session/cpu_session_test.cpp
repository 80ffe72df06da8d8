// SPDX-License-Identifier: Apache-2.0
// Runs and benches that really compile and run: a kernel with scratch in a family of batches,
// transposes, padded rows and offsets, on the cpu backend.
#include "tests/session/session_fixture.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/split_gemm.hpp"
#include "tuner/session/bench.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::SizeIs;

const space::Size kPadded = {21, 18, 40, 3, 4, 5, 1};  // TT, 5 elements between rows, offset 1

class CpuSession : public testing::Test {
 protected:
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  family::Family family_ = verify::split_gemm::family();
  worker::Evaluator evaluator_{*backend_, backend_->compiler(), family_, 5};
};

TEST_F(CpuSession, TunesAKernelWithScratchAndTimesItBesideTheLibrary) {
  store::Store store = store::Store::in_memory();
  Recorder seen;
  const Card card{.name = "0", .device = &evaluator_, .compiler = &backend_->compiler()};
  const RunResult result = tune_kernel({.family = family_,
                                        .kernel = family_.kernels.front(),
                                        .plan = {.sizes = {kPadded, {1, 1, 1, 1, 1, 1, 1}}},
                                        .cards = {&card, 1},
                                        .joining = {},
                                        .store = store,
                                        .observer = seen,
                                        .interrupted = kNeverStop});
  EXPECT_EQ(result.state, store::RunState::complete);
  ASSERT_THAT(seen.steps, SizeIs(12));
  for (const Recorder::Step& step : seen.steps) {
    EXPECT_EQ(step.trial.outcome, Outcome::ok) << step.trial.message;
  }
  EXPECT_THAT(store.bests({}), SizeIs(2));
}

TEST_F(CpuSession, BenchesEveryConfigurationWithItsOwnScratch) {
  const family::Kernel& kernel = family_.kernels.front();
  BenchPlan plan{.size = kPadded, .configs = {}, .finals = {.rounds = 6}};
  for (const std::string_view text : {"SPLITS=1", "SPLITS=2", "BLOCK=8"}) {
    plan.configs.push_back(space::config_from_text(*kernel.space, text));
  }
  const BenchResult result = run_bench(kernel, plan, evaluator_, backend_->compiler(), kNeverStop);
  ASSERT_THAT(result.contenders, SizeIs(5)) << "with the default and the library";
  for (const BenchContender& contender : result.contenders) {
    EXPECT_EQ(contender.trial.outcome, Outcome::ok) << contender.trial.message;
    EXPECT_TRUE(contender.timed);
  }
}

}  // namespace
}  // namespace tuner::session
