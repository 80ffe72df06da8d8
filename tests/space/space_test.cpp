// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/space.hpp"

#include "support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace tuner::space {
namespace {

using testing::HasSubstr;

TEST(Space, WaterfallCountsWhatEachConstraintRemoves) {
  const Space space = make_space(kTiles);
  const Waterfall waterfall = space.waterfall();
  EXPECT_EQ(waterfall.cartesian, 28800U);
  EXPECT_EQ(waterfall.collapsed, 9600U);
  std::vector<std::uint64_t> removed;
  std::vector<std::uint64_t> left;
  for (const WaterfallStep& step : waterfall.steps) {
    removed.push_back(step.removed);
    left.push_back(step.left);
  }
  EXPECT_EQ(removed, (std::vector<std::uint64_t>{7152, 0, 0, 2820, 1388, 0, 240}));
  EXPECT_EQ(left, (std::vector<std::uint64_t>{12048, 12048, 12048, 9228, 7840, 7840, 7600}));
  EXPECT_EQ(waterfall.steps[4].why, "padding keeps vector alignment");
  EXPECT_EQ(space.size(), 7600U);
  EXPECT_FALSE(space.violation(space.default_config()));
  EXPECT_TRUE(space.position(space.default_config()));
}

TEST(Space, PositionsNameEveryValidConfigurationOnce) {
  const Space space = make_space(kTiles);
  std::set<Config> seen;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Config config = space.at(i);
    EXPECT_EQ(space.position(config), i);
    seen.insert(config);
  }
  std::set<Config> expected;
  for (const Config& config : all_configs(space.definition())) {
    if (!space.violation(config) && space.canonical(config) == config) expected.insert(config);
  }
  EXPECT_EQ(seen, expected);
}

TEST(Space, CanBeGivenAsAListOfConfigurations) {
  const Space rules = make_space(kTiles);
  const std::vector<Config> listed{rules.at(700), rules.at(3), rules.at(41), rules.at(3)};
  const Space space(std::make_shared<SpaceDefinition>(rules.definition()), listed);
  ASSERT_EQ(space.size(), 3U);
  std::set<Config> seen;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    EXPECT_EQ(space.position(space.at(i)), i);
    seen.insert(space.at(i));
  }
  EXPECT_EQ(seen, std::set<Config>(listed.begin(), listed.end()));
  EXPECT_FALSE(space.position(rules.at(4)));
  EXPECT_EQ(
      Space(std::make_shared<SpaceDefinition>(rules.definition()), std::vector<Config>{}).size(),
      0U);
}

TEST(Space, RefusesToPlaceWhatIsNotInIt) {
  const Space space = make_space(
      R"({"parameters": {"A": {"values": [1, 2, 3], "default": 1}, "B": {"values": [1, 2], "default": 1}},
          "constraints": [{"expr": "A > B", "why": "w"}]})");
  EXPECT_EQ(space.size(), 3U);
  EXPECT_FALSE(space.position(Config{{0, 0}}));
  EXPECT_FALSE(space.position(Config{{7, 0}}));
  EXPECT_FALSE(space.position(Config{{2}}));
}

TEST(Space, InactiveParametersTakeTheirDefault) {
  const Space space = make_space(
      R"({"parameters": {"A": {"values": [0, 1], "default": 0},
                         "B": {"values": [4, 5, 6], "default": 5, "when": "A == 1"},
                         "C": {"values": [1, 2], "default": 1, "when": "B == 6"}}})");
  // A=0: B=5, C=1. A=1: B=4 and 5 with C=1, B=6 with both.
  EXPECT_EQ(space.size(), 5U);
  EXPECT_EQ(space.canonical(Config{{0, 2, 1}}), (Config{{0, 1, 0}}));
  EXPECT_EQ(space.canonical(Config{{1, 2, 1}}), (Config{{1, 2, 1}}));
  EXPECT_FALSE(space.position(Config{{0, 2, 1}}));
  EXPECT_EQ(space.waterfall().collapsed, 7U);
  EXPECT_FALSE(space.violation(Config{{0, 2, 1}})) << "`when` is not a constraint";
}

TEST(Space, AFaultInWhenMakesInactive) {
  const Space space = make_space(
      R"({"parameters": {"A": {"values": [0, 1], "default": 0},
                         "B": {"values": [1, 2], "default": 1, "when": "1 // A"}}})");
  EXPECT_EQ(space.size(), 3U);
  EXPECT_EQ(space.canonical(Config{{0, 1}}), (Config{{0, 0}}));
}

TEST(Space, AFaultBreaksTheConstraint) {
  const Space space = make_space(
      R"({"parameters": {"A": {"values": [0, 1, 2], "default": 1}},
          "derived": {"D": "4 // A"},
          "constraints": [{"expr": "A == 0 or D > 0", "why": "w"}]})");
  EXPECT_EQ(space.size(), 2U);
  EXPECT_EQ(space.waterfall().steps[0].removed, 1U);
  const auto violation = space.violation(Config{{0}});
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->message, "A == 0 or D > 0 (w): A=0, D=(division by zero); division by zero");
}

TEST(Space, ViolationNamesTheFirstBrokenConstraintAndItsValues) {
  const Space space = make_space(kTiles);
  const Config config =
      config_from_text(space.definition(), "BM=256,BN=256,TM=1,TN=1,SWIZZLE=xor,PAD=0");
  const auto violation = space.violation(config);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->constraint, 0U);
  EXPECT_EQ(violation->message,
            "THREADS >= 64 && THREADS <= dev.max_threads_per_block && THREADS % dev.warp_size == 0 "
            "(legal block of whole warps): dev.warp_size=32, dev.max_threads_per_block=1024, "
            "THREADS=65536");
}

TEST(Space, OneImpossibleConstraintEmptiesIt) {
  for (const char* constraint : {"1 > 2", "A > 9", "1 // 0 == 0"}) {
    const Space space = make_space(fmt::format(
        R"({{"parameters": {{"A": {{"values": [1, 2], "default": 1}},
                             "B": {{"values": [1, 2], "default": 1}}}},
             "constraints": [{{"expr": "{}", "why": "w"}}]}})",
        constraint));
    EXPECT_EQ(space.size(), 0U) << constraint;
    EXPECT_FALSE(space.position(space.default_config())) << constraint;
    EXPECT_TRUE(space.neighbours(space.default_config()).empty()) << constraint;
    EXPECT_EQ(space.waterfall().steps[0].removed, 4U) << constraint;
  }
}

TEST(Space, WithoutParametersHasOneConfiguration) {
  const Space space = make_space("{}");
  EXPECT_EQ(space.size(), 1U);
  EXPECT_EQ(space.at(0), Config{});
  EXPECT_EQ(space.position(Config{}), 0U);
}

TEST(Space, SamplesUniformly) {
  const Space space = make_space(
      R"({"parameters": {"A": {"range": [1, 10, 1], "default": 1}, "B": {"range": [1, 10, 1], "default": 1},
                         "C": {"values": [1, 2], "default": 1}},
          "constraints": [{"expr": "A <= B", "why": "w"}]})");
  ASSERT_EQ(space.size(), 110U);
  constexpr int kDraws = 110 * 200;
  std::vector<int> hits(space.size());
  std::mt19937_64 random(7);
  for (int i = 0; i < kDraws; ++i) ++hits[*space.position(space.sample(random))];
  double chi_square = 0;
  for (const int n : hits) chi_square += (n - 200.0) * (n - 200.0) / 200.0;
  // 109 degrees of freedom: mean 109, standard deviation 14.8.
  EXPECT_GT(chi_square, 109 - 4 * 14.8);
  EXPECT_LT(chi_square, 109 + 4 * 14.8);
}

TEST(Space, DependsOnTheSizeWhenItsConstraintsDo) {
  const auto definition = parse(
      R"({"parameters": {"A": {"pow2": [1, 16], "default": 1}},
          "derived": {"PER_TILE": "M // A"},
          "constraints": [{"expr": "PER_TILE >= 2", "why": "w"}]})",
      {"M", "N"});
  const std::vector<std::int64_t> small = {8, 1};
  const std::vector<std::int64_t> large = {64, 1};
  EXPECT_EQ(Space(definition, h200(), small).size(), 3U);
  EXPECT_EQ(Space(definition, h200(), large).size(), 5U);
  EXPECT_EQ(error([&] { (void)Space(definition, h200(), {}); }),
            "'PER_TILE = M // A' depends on M: give a problem size (--size)");
}

TEST(Space, SlotsHoldDerivedValues) {
  const auto definition = parse(R"({"parameters": {"A": {"values": [3, 0], "default": 3}},
                                    "derived": {"D": "M // A", "E": "D * 2"}})",
                                {"M"});
  const std::vector<std::int64_t> size = {7};
  const Space space(definition, h200(), size);
  const ExpressionValues slots = space.expression_values(Config{{0}});
  EXPECT_EQ(slots[definition->scope.find("M")->slot], 7);
  EXPECT_EQ(slots[definition->scope.find("dev.sm_count")->slot], 132);
  EXPECT_EQ(slots[definition->scope.find("E")->slot], 4);
  EXPECT_EQ(error([&] { (void)space.expression_values(Config{{1}}); }),
            "the derived value D = M // A cannot be computed: division by zero (M=7, A=0); add a "
            "constraint that excludes such configurations");
}

TEST(Space, SurvivesItsCopies) {
  Space space = make_space(kTiles);
  const Space copy(space);
  const Space moved(std::move(space));
  EXPECT_EQ(copy.size(), 7600U);
  EXPECT_EQ(moved.at(5), copy.at(5));
}

TEST(Space, RefusesMoreThan64BitsOfConfigurations) {
  Json kernel;
  for (int i = 0; i < 5; ++i) {
    kernel["parameters"][fmt::format("P{}", i)] = {{"range", {0, 65535, 1}}, {"default", 0}};
  }
  EXPECT_EQ(error([&] { (void)make_space(kernel.dump()); }),
            "the space has more than 2^64 configurations; give its parameters fewer values");
}

TEST(Space, CountsAndSamplesWhatItCouldNeverList) {
  // Non-decreasing sequences: 6 of 64 with repetition.
  Json kernel;
  for (int i = 0; i < 6; ++i) {
    kernel["parameters"][fmt::format("P{}", i)] = {{"range", {1, 64, 1}}, {"default", 1}};
    if (i == 0) continue;
    kernel["constraints"].push_back({{"expr", fmt::format("P{} <= P{}", i - 1, i)}, {"why", "w"}});
  }
  const Space space = make_space(kernel.dump());
  EXPECT_EQ(space.size(), 119877472U);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Config config = space.sample(random);
    ASSERT_TRUE(std::ranges::is_sorted(config.choice));
    ASSERT_EQ(space.at(*space.position(config)), config);
  }
}

/// The number of sequences with a product and a sum within bounds, by the number of those that
/// have each product and sum.
std::uint64_t count_sequences(int length, const std::vector<int>& values, int most_product,
                              int most_sum) {
  std::map<std::pair<int, int>, std::uint64_t> counts{{{1, 0}, 1}};
  for (int i = 0; i < length; ++i) {
    std::map<std::pair<int, int>, std::uint64_t> longer;
    for (const auto& [reached, count] : counts) {
      for (const int value : values) {
        const auto [product, sum] = reached;
        if (product * value > most_product || sum + value > most_sum) continue;
        longer[{product * value, sum + value}] += count;
      }
    }
    counts = std::move(longer);
  }
  std::uint64_t total = 0;
  for (const auto& [reached, count] : counts) total += count;
  return total;
}

TEST(Space, CountsParametersTiedByOneProductAndOneSum) {
  const std::vector<int> values{1, 2, 3, 4, 6, 8, 12, 16};
  Json kernel;
  std::string product;
  std::string sum;
  for (int i = 0; i < 12; ++i) {
    kernel["parameters"][fmt::format("P{}", i)] = {{"values", values}, {"default", 1}};
    product += fmt::format("{}P{}", i == 0 ? "" : " * ", i);
    sum += fmt::format("{}P{}", i == 0 ? "" : " + ", i);
  }
  kernel["constraints"] = {{{"expr", product + " <= 20000"}, {"why", "w"}},
                           {{"expr", sum + " <= 60"}, {"why", "w"}}};
  const Space space = make_space(kernel.dump());
  EXPECT_EQ(space.size(), count_sequences(12, values, 20000, 60));
  EXPECT_GT(space.size(), 100'000'000U);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Config config = space.sample(random);
    ASSERT_FALSE(space.violation(config));
    ASSERT_EQ(space.at(*space.position(config)), config);
  }
}

}  // namespace
}  // namespace tuner::space
