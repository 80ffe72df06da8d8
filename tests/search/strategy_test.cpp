// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include "tests/search/example_space.hpp"
#include "tests/search/grid.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <set>

namespace tuner::search {
namespace {

std::vector<space::Config> all_asked(Strategy& strategy, std::size_t batch) {
  std::vector<space::Config> asked;
  for (;;) {
    const std::vector<space::Config> some = strategy.ask(batch, {});
    if (some.empty()) return asked;
    EXPECT_LE(some.size(), batch);
    for (const space::Config& config : some) {
      strategy.tell(config, Outcome::ok, 1.0);
      asked.push_back(config);
    }
  }
}

class EveryStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, AsksEveryValidConfigurationExactlyOnce) {
  const space::Space space = example_space();
  for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
    const auto strategy = make_strategy(GetParam(), space, 7);
    const std::vector<space::Config> asked = all_asked(*strategy, batch);
    const std::set<space::Config> distinct(asked.begin(), asked.end());
    EXPECT_EQ(asked.size(), space.size());
    EXPECT_EQ(distinct.size(), space.size());
    for (const space::Config& config : asked) EXPECT_TRUE(space.position(config).has_value());
  }
}

TEST_P(EveryStrategy, RepeatsItselfForTheSameSeedAndBatch) {
  const space::Space space = example_space();
  for (const std::size_t batch : {std::size_t{1}, std::size_t{5}}) {
    EXPECT_EQ(all_asked(*make_strategy(GetParam(), space, 3), batch),
              all_asked(*make_strategy(GetParam(), space, 3), batch));
  }
}

TEST_P(EveryStrategy, TakesInResultsThatItNeverAskedFor) {
  const space::Space space = example_space();
  const auto strategy = make_strategy(GetParam(), space, 7);
  strategy->tell(space.at(5), Outcome::ok, 1.0);
  strategy->tell(space.at(6), Outcome::compile_error, std::nullopt);
  strategy->tell(space.at(5), Outcome::ok, 2.0);  // timed again
  EXPECT_GE(all_asked(*strategy, 3).size(), space.size() - 2);
}

TEST_P(EveryStrategy, AsksAheadOfAnswersInASpaceTooLargeToList) {
  const space::Space space = free_space(10, 10);
  ASSERT_GT(space.size(), 1'000'000'000U);
  const auto strategy = make_strategy(GetParam(), space, 7);
  std::set<space::Config> asked;
  std::vector<space::Config> open;
  for (int batch = 0; batch < 8; ++batch) {
    for (const space::Config& config : strategy->ask(128 - open.size(), {.spent = 0.1 * batch})) {
      EXPECT_TRUE(space.position(config).has_value());
      EXPECT_TRUE(asked.insert(config).second);
      open.push_back(config);
    }
    ASSERT_FALSE(open.empty()) << "it waits for answers, and there are no questions";
    const std::size_t answered = (open.size() + 1) / 2;
    for (std::size_t i = 0; i < answered; ++i) {
      strategy->tell(open[i], Outcome::ok, 1.0 + open[i].choice.front());
    }
    open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(answered));
  }
  EXPECT_EQ(open.size(), 64U);
  EXPECT_GE(asked.size(), 4 * 64U);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, testing::ValuesIn(strategy_names()),
                         [](const auto& named) { return named.param; });

TEST(RandomOrder, DependsOnTheSeed) {
  const space::Space space = example_space();
  EXPECT_NE(all_asked(*make_strategy("random", space, 1), 1),
            all_asked(*make_strategy("random", space, 2), 1));
}

TEST(RandomOrder, GivesEveryConfigurationTheSameChanceToBeFirst) {
  const space::Space space = example_space();
  std::map<space::Config, int> first;
  constexpr int kDraws = 21'000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed)
    ++first[make_strategy("random", space, seed)->ask(1, {}).front()];
  const double expected = kDraws / static_cast<double>(space.size());
  ASSERT_EQ(first.size(), space.size());
  for (const auto& [config, count] : first) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
}

TEST(MakeStrategy, SuggestsTheNameThatWasMeant) {
  const space::Space space = example_space();
  try {
    static_cast<void>(make_strategy("randon", space, 0));
    FAIL() << "an unknown strategy was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'random'"));
  }
}

}  // namespace
}  // namespace tuner::search
