// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/configurations.hpp"

#include <gmock/gmock.h>

namespace tuner::report {
namespace {

using testing::ElementsAre;

TEST(Configurations, HaveTheirValuesInTheOrderThatIsSet) {
  Configurations configs;
  const auto first = configs.add(11, R"({"B":2,"A":1})");
  const auto second = configs.add(7, R"({"A":3,"C":"x"})");
  EXPECT_EQ(configs.add(11, R"({"B":2,"A":1})"), first);
  EXPECT_EQ(configs.size(), 2U);
  EXPECT_THAT(configs.parameters(), ElementsAre("B", "A", "C"));
  configs.order({"C", "A", "UNUSED", "B"});
  EXPECT_THAT(configs.values(first), ElementsAre("", "1", "", "2"));
  EXPECT_THAT(configs.values(second), ElementsAre("x", "3", "", ""));
  EXPECT_EQ(configs.find(7), second);
  EXPECT_FALSE(configs.find(8));
}

TEST(Configurations, ShareEqualValues) {
  Configurations configs;
  const auto first = configs.add(1, R"({"A":1})"), second = configs.add(2, R"({"A":1,"B":2})");
  configs.order({"A", "B"});
  EXPECT_EQ(configs.place(first, 0), configs.place(second, 0));
  EXPECT_NE(configs.place(first, 1), configs.place(second, 1));
  EXPECT_EQ(configs.places(1), 2U);
}

TEST(Configurations, TextThatIsNoObjectHasNoValues) {
  Configurations configs;
  const auto broken = configs.add(1, "[1");
  configs.order({"A"});
  EXPECT_THAT(configs.values(broken), ElementsAre(""));
}

}  // namespace
}  // namespace tuner::report
