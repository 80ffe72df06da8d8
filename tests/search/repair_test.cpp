// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/repair.hpp"

#include "tests/search/grid.hpp"

#include <gmock/gmock.h>

namespace tuner::search {
namespace {

space::Config config(std::initializer_list<std::uint32_t> choice) {
  return {.choice = choice};
}

/// The space of exactly these configurations of three parameters with five values each.
space::Space space_of(std::vector<space::Config> configs) {
  return {grid(3, 5), std::move(configs)};
}

TEST(Repaired, LeavesAConfigurationOfTheSpaceAsItIs) {
  const space::Space space = space_of({config({0, 0, 0}), config({1, 2, 3})});
  EXPECT_EQ(repaired(space, config({1, 2, 3}), config({0, 0, 0})), config({1, 2, 3}));
}

TEST(Repaired, ChangesOneParameterByAsLittleAsItCan) {
  const space::Space space = space_of({config({0, 2, 3}), config({4, 2, 3}), config({0, 0, 0})});
  EXPECT_EQ(repaired(space, config({3, 2, 3}), config({0, 0, 0})), config({4, 2, 3}));
}

TEST(Repaired, WalksTowardsWhatNoSingleChangeReaches) {
  const space::Space space =
      space_of({config({0, 0, 0}), config({2, 0, 0}), config({2, 3, 0}), config({0, 0, 4})});
  EXPECT_EQ(repaired(space, config({3, 4, 1}), config({0, 0, 0})), config({2, 3, 0}));
}

TEST(StepsBetween, AddsUpTheParameters) {
  EXPECT_EQ(steps_between(config({0, 4, 2}), config({3, 1, 2})), 6U);
}

}  // namespace
}  // namespace tuner::search
