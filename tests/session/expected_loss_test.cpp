// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/expected_loss.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace tuner::session {
namespace {

using testing::ElementsAre;

TEST(ExpectedLoss, AtAKnownSizeItIsNearlyTheKnownLossAndMoreCertain) {
  const std::vector<KnownLoss> known = {{{1024, 1024}, 1.0}};
  const ExpectedLoss there = expected_loss(known, {1024, 1024});
  const ExpectedLoss nowhere = expected_loss({}, {1024, 1024});
  EXPECT_NEAR(there.ln_loss, 1.0, 0.2);
  EXPECT_LT(there.error, nowhere.error);
  EXPECT_LT(nowhere.least(), 0) << "what was never timed may be the fastest";
}

TEST(ExpectedLoss, ANearSizeCountsMoreThanManyFarOnes) {
  std::vector<KnownLoss> known = {{{16, 16}, 0.0}};
  for (std::int64_t i = 0; i < 20; ++i) known.push_back({{4096 + i, 4096}, 1.0});
  EXPECT_LT(expected_loss(known, {17, 16}).ln_loss, 0.1);
  EXPECT_GT(expected_loss(known, {4096, 4096}).least(), 0.8);
}

TEST(ExpectedLoss, FarFromAllKnownSizesItIsTheUsualLoss) {
  const std::vector<KnownLoss> known = {{{16, 16}, 3.0}};
  EXPECT_NEAR(expected_loss(known, {16384, 16384}).ln_loss, expected_loss({}, {1, 1}).ln_loss,
              1e-6);
}

TEST(FarApart, BeginsInTheMiddleAndLeavesNeighboursForLast) {
  EXPECT_THAT(far_apart({{1}, {2}, {64}, {70}, {4096}}),
              ElementsAre(space::Size{64}, space::Size{4096}, space::Size{1}, space::Size{2},
                          space::Size{70}));
}

}  // namespace
}  // namespace tuner::session
