// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/drift.hpp"

#include <gtest/gtest.h>

namespace tuner::measure {
namespace {

TEST(DriftMonitor, DriftsBeyondTwoPerCentEitherWay) {
  EXPECT_NEAR(drift(1000, 1030), 0.03, 1e-12);
  EXPECT_TRUE(has_drifted(1000, 1021));
  EXPECT_TRUE(has_drifted(1000, 979)) << "faster is drift too: what came before was too slow";
  EXPECT_FALSE(has_drifted(1000, 1019));
  EXPECT_FALSE(has_drifted(1000, 981));
}

}  // namespace
}  // namespace tuner::measure
