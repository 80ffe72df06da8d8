// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <set>

namespace tuner {
namespace {

Space example_space() {
  const Json kernel = parse_json(R"({
    "parameters": {
      "A": {"values": [1, 2, 3, 4, 5, 6], "default": 1},
      "B": {"values": [1, 2, 3, 4, 5, 6], "default": 1}
    },
    "constraints": [{"expr": "A * B % 2 == 1 or A > B", "why": "an example"}]
  })",
                                 "example");
  return {std::make_shared<SpaceDefinition>(parse_space_definition(kernel, {}, "example")),
          device_profile("h200")->attributes,
          {}};
}

std::vector<Config> all_asked(Strategy& strategy, std::size_t batch) {
  std::vector<Config> asked;
  for (;;) {
    const std::vector<Config> some = strategy.ask(batch, {});
    if (some.empty()) return asked;
    EXPECT_LE(some.size(), batch);
    for (const Config& config : some) {
      strategy.tell(config, Outcome::ok, 1.0);
      asked.push_back(config);
    }
  }
}

class EveryStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, AsksEveryValidConfigurationExactlyOnce) {
  const Space space = example_space();
  for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
    const auto strategy = make_strategy(GetParam(), space, 7);
    const std::vector<Config> asked = all_asked(*strategy, batch);
    const std::set<Config> distinct(asked.begin(), asked.end());
    EXPECT_EQ(asked.size(), space.size());
    EXPECT_EQ(distinct.size(), space.size());
    for (const Config& config : asked) EXPECT_TRUE(space.position(config).has_value());
  }
}

TEST_P(EveryStrategy, RepeatsItselfForTheSameSeedWhateverTheBatch) {
  const Space space = example_space();
  EXPECT_EQ(all_asked(*make_strategy(GetParam(), space, 3), 1),
            all_asked(*make_strategy(GetParam(), space, 3), 5));
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, testing::ValuesIn(strategy_names()),
                         [](const auto& named) { return named.param; });

TEST(RandomOrder, DependsOnTheSeed) {
  const Space space = example_space();
  EXPECT_NE(all_asked(*make_strategy("random", space, 1), 1),
            all_asked(*make_strategy("random", space, 2), 1));
}

TEST(RandomOrder, GivesEveryConfigurationTheSameChanceToBeFirst) {
  const Space space = example_space();
  std::map<Config, int> first;
  constexpr int kDraws = 21'000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed)
    ++first[make_strategy("random", space, seed)->ask(1, {}).front()];
  const double expected = kDraws / static_cast<double>(space.size());
  ASSERT_EQ(first.size(), space.size());
  for (const auto& [config, count] : first) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
}

TEST(MakeStrategy, SuggestsTheNameThatWasMeant) {
  const Space space = example_space();
  try {
    static_cast<void>(make_strategy("randon", space, 0));
    FAIL() << "an unknown strategy was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'random'"));
  }
}

}  // namespace
}  // namespace tuner
