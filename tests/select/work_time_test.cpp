// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/work_time.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tuner::select {
namespace {

/// Of launches that take 2000 ns, 0.5 for each operation and 0.25 for each byte.
std::vector<TimedWork> times() {
  std::vector<TimedWork> times;
  for (const double flops : {1e2, 1e4, 1e6}) {
    for (const double bytes : {1e3, 1e5}) {
      times.push_back({.work = {flops, bytes}, .ns = 2000 + 0.5 * flops + 0.25 * bytes});
    }
  }
  return times;
}

TEST(WorkTime, IsWhatLaunchesTakeThatHaveOneRate) {
  const WorkTime fit = fit_work_time(times());
  EXPECT_NEAR(fit.fixed_ns, 2000, 1);
  EXPECT_NEAR(fit.ns_per_flop, 0.5, 1e-3);
  EXPECT_NEAR(fit.ns_per_byte, 0.25, 1e-3);
  EXPECT_NEAR(fit.ns({1e8, 1e7}), 2000 + 0.5e8 + 0.25e7, 1e5);
}

TEST(WorkTime, HasNoNegativePart) {
  // Ever less for a byte.
  const std::vector<TimedWork> sinking = {{{0, 1e3}, 900}, {{0, 1e4}, 500}, {{0, 1e5}, 400}};
  const WorkTime fit = fit_work_time(sinking);
  EXPECT_GT(fit.fixed_ns, 400);
  EXPECT_LT(fit.fixed_ns, 900);
  EXPECT_EQ(fit.ns_per_flop, 0);
  EXPECT_EQ(fit.ns_per_byte, 0);
}

TEST(WorkTime, OfOneTimeIsNearThatOfOthers) {
  const WorkTime usual = fit_work_time(times());
  const std::vector<TimedWork> one = {{{1e6, 1e3}, 1.2 * usual.ns({1e6, 1e3})}};
  const WorkTime fit = fit_work_time(one, times());
  EXPECT_NEAR(fit.ns_per_byte / usual.ns_per_byte, 1, 0.1) << "it tells nothing of bytes";
  EXPECT_GT(fit.ns_per_flop, usual.ns_per_flop);
  EXPECT_LT(fit.ns_per_flop, 1.2 * usual.ns_per_flop);
}

TEST(WorkTime, OfManyTimesIsTheirOwn) {
  const WorkTime usual = fit_work_time(times());
  std::vector<TimedWork> slow;
  for (int i = 0; i < 40; ++i) {
    for (TimedWork it : times()) slow.push_back({it.work, 1.2 * it.ns});
  }
  const WorkTime fit = fit_work_time(slow, times());
  EXPECT_NEAR(fit.ns({1e6, 1e5}) / usual.ns({1e6, 1e5}), 1.2, 0.02);
}

}  // namespace
}  // namespace tuner::select
