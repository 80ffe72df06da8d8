// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_cost.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// A trial whose verification took 1 s and whose timing 2 s.
store::StoredTrial trial(std::string problem, std::string config, std::optional<double> median_ns,
                         double compile_s, double elapsed_s) {
  store::StoredTrial stored{
      .id = static_cast<std::int64_t>(elapsed_s), .elapsed_s = elapsed_s, .trial = {}};
  stored.trial.problem = std::move(problem);
  stored.trial.config_json = std::move(config);
  stored.trial.outcome = median_ns ? Outcome::ok : Outcome::wrong_result;
  if (median_ns) stored.trial.time = TimeSummary{.median_ns = *median_ns};
  stored.trial.compile_ms = compile_s * 1e3;
  stored.trial.verify_ms = 1000;
  stored.trial.measure_ms = 2000;
  return stored;
}

TEST(SizeCosts, AddUpBySizeAndSayWhenTheBestWasNear) {
  const auto costs = size_costs(std::vector{
      trial("8", "a", 200, 4, 10), trial("9", "a", 100, 0, 20), trial("8", "b", 103, 5, 30),
      trial("8", "c", 100, 0, 40), trial("8", "d", std::nullopt, 6, 50)});
  ASSERT_THAT(costs, SizeIs(2));
  const SizeCost& eight = costs.front();
  EXPECT_EQ(eight.problem, "8");
  EXPECT_EQ(eight.all.trials, 4U);
  EXPECT_DOUBLE_EQ(eight.all.compile_s, 15);
  EXPECT_DOUBLE_EQ(eight.all.device_s, 12);
  EXPECT_EQ(eight.shared, 1U);
  ASSERT_TRUE(eight.to_near_best);
  EXPECT_EQ(eight.to_near_best->trials, 2U);
  EXPECT_DOUBLE_EQ(eight.to_near_best->compile_s, 9);
  EXPECT_DOUBLE_EQ(eight.to_near_best->device_s, 6);
  EXPECT_DOUBLE_EQ(eight.elapsed_s, 27) << "its first trial began at 3 s";
  EXPECT_EQ(costs.back().shared, 1U);
  EXPECT_EQ(costs.back().to_near_best->trials, 1U);
}

TEST(SizeCosts, ATimeThatWasWithdrawnIsNotTheBest) {
  auto lost = trial("8", "b", 50, 1, 20);
  auto in_final = trial("8", "b", std::nullopt, 0, 30);
  const auto costs = size_costs(std::vector{trial("8", "a", 100, 1, 10), lost, in_final});
  EXPECT_EQ(costs.front().to_near_best->trials, 1U);
}

TEST(SizeCosts, WithoutASuccessThereIsNoBest) {
  EXPECT_FALSE(size_costs(std::vector{trial("8", "a", std::nullopt, 1, 5)}).front().to_near_best);
  EXPECT_THAT(size_costs({}), IsEmpty());
}

}  // namespace
}  // namespace tuner::session
