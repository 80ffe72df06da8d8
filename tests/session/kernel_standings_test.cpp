// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/kernel_standings.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::size_t> going_on(const Standing& standing) {
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < standing.going_on; ++i) kernels.push_back(standing.places[i].kernel);
  return kernels;
}

TEST(KernelStandings, TheFasterHalfGoesOnAtEachSize) {
  const std::vector<KernelTimes> kernels = {
      {{{10}, 5}, {{20}, 9}}, {{{10}, 4}, {{20}, 5}}, {{{10}, 6}, {{20}, 6}}, {{{10}, 7}}};
  const std::vector<Standing> standings = kernel_standings(kernels);
  ASSERT_THAT(standings, SizeIs(2));
  EXPECT_EQ(standings[0].size, space::Size{10});
  EXPECT_THAT(going_on(standings[0]), ElementsAre(1, 0));
  EXPECT_THAT(going_on(standings[1]), ElementsAre(1, 2)) << "of three, two";
}

TEST(KernelStandings, WhatTakesMoreThanTwiceTheTimeIsOutOfReach) {
  const std::vector<KernelTimes> kernels = {{{{10}, 21}}, {{{10}, 10}}, {{{10}, 22}}};
  EXPECT_THAT(going_on(kernel_standings(kernels).front()), ElementsAre(1));
}

TEST(KernelStandings, TheOnlyOneGoesOnAndNobodyStandsWhereNothingWorked) {
  const std::vector<KernelTimes> kernels = {{}, {{{10}, 21}}};
  EXPECT_THAT(going_on(kernel_standings(kernels).front()), ElementsAre(1));
  EXPECT_THAT(kernel_standings(std::vector<KernelTimes>(3)), IsEmpty());
}

}  // namespace
}  // namespace tuner::session
