// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/bayesian.hpp"

#include "tests/search/example_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace tuner::search {
namespace {

/// A valley: best at choice 2 on every axis, and worse the farther from it.
double valley_ns(const space::Config& config) {
  double sum = 0;
  for (const std::uint32_t choice : config.choice) {
    const double distance = static_cast<double>(choice) - 2;
    sum += distance * distance;
  }
  return 1000 * (1 + sum);
}

using Answer = std::function<std::optional<double>(const space::Config&)>;

Outcome outcome_of(const std::optional<double>& time_ns) {
  return time_ns ? Outcome::ok : Outcome::launch_error;
}

/// Asks one by one and answers at once; what was asked.
std::vector<space::Config> run(Strategy& strategy, std::size_t evaluations, const Answer& answer) {
  std::vector<space::Config> asked;
  while (asked.size() < evaluations) {
    const std::vector<space::Config> next = strategy.ask(1, {});
    if (next.empty()) break;
    const auto time_ns = answer(next.front());
    strategy.tell(next.front(), outcome_of(time_ns), time_ns);
    asked.push_back(next.front());
  }
  return asked;
}

double fastest(const std::vector<space::Config>& asked) {
  double best = valley_ns(asked.front());
  for (const space::Config& config : asked) best = std::min(best, valley_ns(config));
  return best;
}

class BayesianSearch : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BayesianSearch, FindsTheBestOfThousandsInDozens) {
  const space::Space space = free_space(4, 8);  // 4,096
  Bayesian search(space, GetParam(), {});
  EXPECT_EQ(fastest(run(search, 80, valley_ns)), 1000);
}

TEST_P(BayesianSearch, FindsTheBestOfMillionsByTheNeighboursOfGoodOnes) {
  const space::Space space = free_space(7, 9);  // 4,782,969
  Bayesian search(space, GetParam(), {});
  EXPECT_EQ(fastest(run(search, 150, valley_ns)), 1000);
}

TEST_P(BayesianSearch, AvoidsWhatFails) {
  const space::Space space = free_space(4, 6);
  const auto half_fails = [](const space::Config& config) {
    return config.choice[0] >= 3 ? std::nullopt : std::optional(valley_ns(config));
  };
  Bayesian search(space, GetParam(), {});
  const std::vector<space::Config> asked = run(search, 80, half_fails);
  const auto fails = [](const space::Config& config) { return config.choice[0] >= 3; };
  // A random search would fail 20 times.
  EXPECT_LE(std::count_if(asked.begin() + 10, asked.begin() + 50, fails), 8);
}

INSTANTIATE_TEST_SUITE_P(RequiredFinalists, BayesianSearch, testing::Values(1, 2, 3));

TEST(Bayesian, WaitsForTheResultsOfItsFirstProposals) {
  const space::Space space = free_space(4, 8);
  Bayesian search(space, 1, {});
  const std::vector<space::Config> first = search.ask(100, {});
  EXPECT_EQ(first.size(), BayesianSettings{}.initial);
  EXPECT_TRUE(search.ask(100, {}).empty());
  for (const space::Config& config : first) search.tell(config, Outcome::ok, valley_ns(config));
  EXPECT_EQ(search.ask(100, {}).size(), 100U);
}

TEST(Bayesian, FindsTheBestWithManyQuestionsOpen) {
  const space::Space space = free_space(4, 8);
  Bayesian search(space, 2, {});
  std::vector<space::Config> open;
  std::vector<space::Config> asked;
  while (asked.size() < 160) {
    std::ranges::move(search.ask(30 - open.size(), {}), std::back_inserter(open));
    search.tell(open.front(), Outcome::ok, valley_ns(open.front()));
    asked.push_back(open.front());
    open.erase(open.begin());
  }
  EXPECT_EQ(fastest(asked), 1000);
  EXPECT_EQ(std::set<space::Config>(asked.begin(), asked.end()).size(), asked.size());
}

TEST(Bayesian, UsesResultsThatItDidNotPropose) {
  const space::Space space = free_space(4, 8);
  const std::vector<space::Config> known = run(*make_strategy("random", space, 3), 60, valley_ns);
  Bayesian search(space, 4, {});
  for (const space::Config& config : known) search.tell(config, Outcome::ok, valley_ns(config));
  const std::vector<space::Config> asked = run(search, 10, valley_ns);
  for (const space::Config& config : asked) EXPECT_EQ(std::ranges::count(known, config), 0);
  EXPECT_LE(fastest(asked), 2000);  // among the best 9 of 4,096
}

TEST(Bayesian, TakesACorrectedResultForTheFirst) {
  const space::Space space = free_space(4, 8);
  const space::Config lucky{{7, 7, 7, 7}};
  Bayesian search(space, 5, {});
  search.tell(lucky, Outcome::ok, 1.0);
  static_cast<void>(run(search, 30, valley_ns));
  search.tell(lucky, Outcome::ok, valley_ns(lucky));
  EXPECT_EQ(fastest(run(search, 80, valley_ns)), 1000);
}

TEST(Bayesian, EndsWhenNothingWorks) {
  const space::Space space = example_space();
  Bayesian search(space, 6, {});
  const auto fails = [](const space::Config&) { return std::optional<double>(); };
  EXPECT_EQ(run(search, 1000, fails).size(), space.size());
}

TEST(Bayesian, AsksTheWholeSpaceAlthoughToldOfOthers) {
  const space::Space space = example_space();
  Bayesian search(space, 7, {});
  const space::Config outside{{0, 5}};
  ASSERT_FALSE(space.position(outside));
  search.tell(outside, Outcome::ok, 5.0);
  EXPECT_EQ(run(search, 1000, valley_ns).size(), space.size());
}

}  // namespace
}  // namespace tuner::search
