// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/earlier_winners.hpp"

#include "tests/session/session_fixture.hpp"

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EarlierWinnersTest : public SessionTest {
 protected:
  /// Tunes the size where `fastest` is the fastest configuration, in the name of a device.
  void tune_on(const std::string& name, const std::string& fastest, std::int64_t size) {
    device.set_device_name(name);
    device.behaviours = {{fastest, {.time_ns = 1}}};
    static_cast<void>(run({.sizes = {{size}}}));
  }

  EarlierWinners winners(const std::vector<select::ShippedWinner>& shipped = {}) const {
    return {store, family, family.kernels.front(), device.device(), shipped};
  }
  select::ShippedWinner shipped(const std::string& name, const std::string& problem,
                                const std::string& config_json) const {
    return {.device = name,
            .kernel = family.kernels.front().name,
            .problem = problem,
            .config_json = config_json};
  }
  space::Config config(std::string_view text) const { return toy::config(family, text); }
};

TEST_F(EarlierWinnersTest, AtASizeAreThoseOfOtherDevicesAndOfTablesButNotTheIncumbent) {
  tune_on("A", "toy<1,1>", 10);
  tune_on("B", "toy<2,2>", 10);
  tune_on("B", "toy<2,3>", 20);
  EXPECT_THAT(winners().at_size({10}), ElementsAre(config("TILE=1,DEPTH=1")));
  EXPECT_THAT(winners().at_size({20}), IsEmpty());
  EXPECT_THAT(
      winners({shipped("C", "10", R"({"DEPTH":3,"TILE":1})"),
               shipped("B", "10", R"({"DEPTH":3,"TILE":3})"),
               shipped("B", "20", R"({"DEPTH":3,"TILE":2})"),
               shipped("B", "10", R"({"DEPTH":1,"TILE":1})")})
          .at_size({10}),
      ElementsAre(config("TILE=3,DEPTH=3"), config("TILE=1,DEPTH=1"), config("TILE=1,DEPTH=3")));
}

TEST_F(EarlierWinnersTest, AnywhereAreThoseOfThisModelFirstAndThenOfTheNearestSizes) {
  tune_on("A", "toy<1,1>", 10);
  tune_on("B", "toy<2,2>", 40);
  EXPECT_THAT(
      winners({shipped("A", "20", R"({"DEPTH":3,"TILE":3})")}).anywhere({20}),
      ElementsAre(config("TILE=2,DEPTH=2"), config("TILE=3,DEPTH=3"), config("TILE=1,DEPTH=1")));
}

TEST_F(EarlierWinnersTest, NearAreTheSameWithTheirSizes) {
  tune_on("A", "toy<1,1>", 10);
  tune_on("A", "toy<1,1>", 40);
  const auto near = winners().near({12});
  ASSERT_THAT(near, testing::SizeIs(2));
  EXPECT_EQ(near[0].size, space::Size{10});
  EXPECT_EQ(near[1].size, space::Size{40});
  EXPECT_EQ(near[1].config, config("TILE=1,DEPTH=1"));
}

TEST_F(EarlierWinnersTest, ASizeWithoutAFinalRoundHasItsFastestTrial) {
  device.behaviours = {{"toy<3,3>", {.time_ns = 1}}};
  static_cast<void>(run({.sizes = {{10}}, .final_rounds = FinalRounds::deferred}));
  EarlierWinners winners = this->winners();
  EXPECT_THAT(winners.near({10}), IsEmpty());
  winners.add_fastest_trials(store);
  ASSERT_THAT(winners.near({10}), testing::SizeIs(1));
  EXPECT_EQ(winners.near({10}).front().config, config("TILE=3,DEPTH=3"));
}

TEST_F(EarlierWinnersTest, WhatIsOfAnotherKernelOrNoLongerInTheSpaceIsLeftOut) {
  select::ShippedWinner other = shipped("A", "10", R"({"DEPTH":3,"TILE":3})");
  other.kernel = "other";
  EXPECT_THAT(winners({other, shipped("A", "10", R"({"DEPTH":3,"GONE":3})"),
                       shipped("A", "10,20", R"({"DEPTH":3,"TILE":3})")})
                  .at_size({10}),
              IsEmpty());
}

}  // namespace
}  // namespace tuner::session
