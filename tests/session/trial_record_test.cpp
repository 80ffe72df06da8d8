// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_record.hpp"

#include <gtest/gtest.h>

namespace tuner::session {
namespace {

family::KernelStep step_of(std::int64_t dynamic_shared_bytes) {
  family::KernelStep step;
  step.grid = {space::Expression::constant(1)};
  step.block = {space::Expression::constant(32)};
  step.dynamic_shared_bytes = space::Expression::constant(dynamic_shared_bytes);
  return step;
}

TEST(TrialRecord, ShowsOfEachResourceWhatTheStepUsesThatUsesMost) {
  family::Kernel kernel;
  kernel.steps = {step_of(0), step_of(300)};
  worker::EvaluatedCandidate evaluation;
  evaluation.resources = {{.registers = 40, .static_shared_bytes = 100, .local_bytes = 0},
                          {.registers = 20, .static_shared_bytes = 50, .local_bytes = 8}};
  const store::TrialRecord failed = with_evaluation({}, evaluation, kernel, {});
  EXPECT_EQ(failed.shared_bytes, 100U) << "its launch may be none";
  evaluation.time = TimeSummary{};
  const store::TrialRecord timed = with_evaluation({}, evaluation, kernel, {});
  EXPECT_EQ(timed.registers, 40);
  EXPECT_EQ(timed.shared_bytes, 350U);
  EXPECT_EQ(timed.local_bytes, 8U);
}

}  // namespace
}  // namespace tuner::session
