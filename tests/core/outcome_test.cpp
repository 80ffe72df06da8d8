// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/outcome.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

TEST(Outcome, NamesReadBackAsTheSameOutcome) {
  for (const Outcome outcome : kOutcomes) EXPECT_EQ(outcome_from_name(name(outcome)), outcome);
}

TEST(Outcome, UnknownNamesAreNoOutcome) {
  EXPECT_EQ(outcome_from_name("fine"), std::nullopt);
}

}  // namespace
}  // namespace tuner
