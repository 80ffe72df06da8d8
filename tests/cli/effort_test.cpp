// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_runs.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

namespace tuner::cli {
namespace {

session::RunPlan plan_of(const TuneOptions& options) {
  session::RunPlan plan;
  set_effort(plan, options);
  return plan;
}

TEST(Effort, ASizeIsFinishedByPatienceUnlessTheSearchIsBoundedOtherwise) {
  EXPECT_EQ(plan_of({}).patience, 150U);
  TuneOptions options;
  options.max_evaluations = 1000;
  EXPECT_EQ(plan_of(options).patience, std::nullopt);
  EXPECT_EQ(plan_of(options).max_evaluations, 1000U);
  TuneOptions exhaustive;
  exhaustive.strategy = "exhaustive";
  exhaustive.effort = "quick";
  EXPECT_EQ(plan_of(exhaustive).patience, std::nullopt);
  EXPECT_EQ(plan_of(exhaustive).max_evaluations, std::nullopt) << "all was asked for";
}

TEST(Effort, EachWordTakesLongerThanTheOneBefore) {
  TuneOptions quick, full;
  quick.effort = "quick";
  full.effort = "full";
  EXPECT_LT(*plan_of(quick).patience, *plan_of({}).patience);
  EXPECT_EQ(plan_of(full).patience, std::nullopt);
  EXPECT_LT(plan_of(quick).most_finalists, plan_of({}).most_finalists);
  EXPECT_EQ(plan_of(quick).energy, session::EnergyChoice::never);
}

TEST(Effort, OptionsWinOverIt) {
  TuneOptions options;
  options.effort = "quick";
  options.patience = 500;
  options.energy = true;
  EXPECT_EQ(plan_of(options).patience, 500U);
  EXPECT_EQ(plan_of(options).energy, session::EnergyChoice::always);
  options.max_evaluations = 7;
  EXPECT_EQ(plan_of(options).max_evaluations, 7U);
}

TEST(Effort, AnotherWordIsRefusedWithTheNearest) {
  TuneOptions options;
  options.effort = "quik";
  try {
    static_cast<void>(plan_of(options));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'quick'?"));
  }
}

}  // namespace
}  // namespace tuner::cli
