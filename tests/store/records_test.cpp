// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/records.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

TEST(SessionState, HasTheNamesThatTheDatabaseKeeps) {
  EXPECT_EQ(name(SessionState::running), "running");
  EXPECT_EQ(name(SessionState::complete), "complete");
  EXPECT_EQ(name(SessionState::budget_spent), "budget_spent");
  EXPECT_EQ(name(SessionState::interrupted), "interrupted");
  EXPECT_EQ(name(SessionState::imported), "imported");
}

}  // namespace
}  // namespace tuner
