// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"
#include "tuner/space/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

namespace tuner::space {
namespace {

constexpr std::array kKinds = {Neighbourhood::hamming, Neighbourhood::adjacent,
                               Neighbourhood::hamming2};

bool is_valid(const Space& space, const Config& config) {
  return !space.violation(config) && space.canonical(config) == config;
}

std::size_t distance(const Config& a, const Config& b) {
  std::size_t result = 0;
  for (std::size_t p = 0; p < a.choice.size(); ++p) {
    if (a.choice[p] != b.choice[p]) ++result;
  }
  return result;
}

/// Whether no valid configuration lies between two that differ in one parameter.
bool is_nearest(const Space& space, const Config& from, const Config& to) {
  Config between = from;
  for (std::size_t p = 0; p < from.choice.size(); ++p) {
    const auto [low, high] = std::minmax(from.choice[p], to.choice[p]);
    for (std::uint32_t choice = low + 1; choice < high; ++choice) {
      between.choice[p] = choice;
      if (is_valid(space, between)) return false;
    }
    between.choice[p] = from.choice[p];
  }
  return true;
}

/// Every neighbour, found by looking at all configurations.
std::vector<Config> brute_force(const Space& space, const Config& from, Neighbourhood kind) {
  std::vector<Config> result;
  for (const Config& config : all_configs(space.definition())) {
    const std::size_t wanted = kind == Neighbourhood::hamming2 ? 2 : 1;
    if (distance(from, config) != wanted || !is_valid(space, config)) continue;
    if (kind == Neighbourhood::adjacent && !is_nearest(space, from, config)) continue;
    result.push_back(config);
  }
  return result;
}

std::vector<Config> sorted(std::vector<Config> configs) {
  std::ranges::sort(configs);
  return configs;
}

/// With a value that several others exclude, and a parameter tied to nothing.
constexpr const char* kGaps = R"json({
  "parameters": {
    "A": {"values": [1, 2, 3, 4, 5, 6, 7, 8], "default": 4},
    "B": {"values": [1, 2, 3, 4], "default": 4}, "C": {"values": [1, 2, 3], "default": 2},
    "FREE": {"values": ["x", "y", "z"], "default": "y"},
    "MODE": {"values": [0, 1], "default": 0, "when": "C == 2"}},
  "constraints": [{"expr": "A % B == 0 or A == 3", "why": "w"}, {"expr": "B + C <= 6", "why": "w"}]})json";

TEST(Neighbours, AreThoseOfBruteForce) {
  const Space space = make_space(kGaps);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Config from = space.at(i);
    for (const Neighbourhood kind : kKinds) {
      ASSERT_EQ(sorted(space.neighbours(from, kind)), brute_force(space, from, kind))
          << display(space.definition(), from);
    }
  }
  EXPECT_EQ(space.neighbours(space.at(0)), space.neighbours(space.at(0), Neighbourhood::hamming));
}

TEST(Neighbours, AreInOrderOfParameterAndValue) {
  const Space space = make_space(kTiles);
  const Config start = space.default_config();
  std::vector<Config> expected;
  for (std::size_t p = 0; p < start.choice.size(); ++p) {
    for (std::uint32_t choice = 0; choice < space.definition().parameters[p].values.size();
         ++choice) {
      Config config = start;
      config.choice[p] = choice;
      if (config != start && is_valid(space, config)) expected.push_back(config);
    }
  }
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(space.neighbours(start), expected);
}

TEST(Neighbours, OfAnInvalidConfigurationAreValid) {
  const Space space = make_space(kGaps);
  // 5 % 4: another A or B fixes it. B + C = 7 besides: only B fixes both. FREE cannot.
  for (const Config& from : {Config{{4, 3, 1, 1, 0}}, Config{{4, 3, 2, 1, 0}}}) {
    for (const Neighbourhood kind : kKinds) {
      const std::vector<Config> found = space.neighbours(from, kind);
      EXPECT_FALSE(found.empty());
      EXPECT_EQ(sorted(found), brute_force(space, from, kind));
    }
  }
}

TEST(Neighbours, OfTwoBrokenGroupsAreNone) {
  const Space space = make_space(
      R"({"parameters": {"A": {"values": [1, 2], "default": 1}, "B": {"values": [1, 2], "default": 1},
                         "C": {"values": [1, 2], "default": 1}, "D": {"values": [1, 2], "default": 1}},
          "constraints": [{"expr": "A == B", "why": "w"}, {"expr": "C == D", "why": "w"}]})");
  const Config from{{0, 1, 0, 1}};
  std::mt19937_64 random(1);
  EXPECT_TRUE(space.neighbours(from).empty());
  EXPECT_FALSE(space.random_neighbour(from, Neighbourhood::hamming, random));
  EXPECT_EQ(space.neighbours(from, Neighbourhood::hamming2).size(), 4U);
  EXPECT_TRUE(space.neighbours(Config{{0}}).empty());
  EXPECT_FALSE(space.random_neighbour(Config{{0}}, Neighbourhood::hamming2, random));
}

void expect_uniform(const Space& space, const Config& from, Neighbourhood kind) {
  const std::vector<Config> all = space.neighbours(from, kind);
  constexpr double kEach = 400;
  std::map<Config, double> hits;
  for (const Config& config : all) hits[config] = 0;
  std::mt19937_64 random(11);
  for (std::size_t i = 0; i < all.size() * static_cast<std::size_t>(kEach); ++i) {
    const auto drawn = space.random_neighbour(from, kind, random);
    ASSERT_TRUE(drawn);
    ASSERT_TRUE(hits.contains(*drawn)) << display(space.definition(), *drawn);
    ++hits[*drawn];
  }
  double chi_square = 0;
  for (const auto& [config, n] : hits) chi_square += (n - kEach) * (n - kEach) / kEach;
  const auto freedom = static_cast<double>(all.size() - 1);
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom));
}

TEST(RandomNeighbour, IsUniform) {
  const Space space = make_space(kGaps);
  for (const Neighbourhood kind : kKinds) expect_uniform(space, space.default_config(), kind);
}

TEST(RandomNeighbour, IsUniformWhereNearlyNothingIsValid) {
  // Of 3,996 configurations at distance 1 and 5,988,006 at distance 2, few are valid.
  const Space space = make_space(
      R"({"parameters": {"A": {"range": [1, 1000, 1], "default": 1}, "B": {"range": [1, 1000, 1], "default": 1},
                         "C": {"range": [1, 1000, 1], "default": 1}, "D": {"range": [1, 1000, 1], "default": 1}},
          "constraints": [{"expr": "A == B or A + B in [9, 10]", "why": "w"},
                          {"expr": "C == D or C == 1 and D < 4", "why": "w"}]})");
  const Config from{{4, 4, 0, 0}};
  expect_uniform(space, from, Neighbourhood::hamming);
  std::mt19937_64 random(5);
  for (int i = 0; i < 50; ++i) {
    const auto drawn = space.random_neighbour(from, Neighbourhood::hamming2, random);
    ASSERT_TRUE(drawn);
    EXPECT_EQ(distance(from, *drawn), 2U);
    EXPECT_TRUE(space.position(*drawn));
  }
}

TEST(RandomNeighbour, IsNoneWhenThereIsNone) {
  const Space space = make_space(
      R"({"parameters": {"A": {"values": [1, 2], "default": 1}, "B": {"values": [1, 2], "default": 1},
                         "ONE": {"values": [7], "default": 7}},
          "constraints": [{"expr": "A == B", "why": "w"}]})");
  std::mt19937_64 random(1);
  const Config from{{0, 0, 0}};
  EXPECT_FALSE(space.random_neighbour(from, Neighbourhood::hamming, random));
  EXPECT_FALSE(space.random_neighbour(from, Neighbourhood::adjacent, random));
  EXPECT_EQ(space.random_neighbour(from, Neighbourhood::hamming2, random), (Config{{1, 1, 0}}));
  EXPECT_FALSE(make_space("{}").random_neighbour(Config{}, Neighbourhood::hamming, random));
}

}  // namespace
}  // namespace tuner::space
