// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tuner::search {
namespace {

using Times = std::vector<std::optional<double>>;

TEST(Response, IsTheStandardisedLogarithmWhenBothSidesCountAlike) {
  const Times times{1.0, std::exp(1.0), std::exp(2.0), std::exp(3.0), std::exp(4.0)};
  const Response response(1, times);
  double sum = 0;
  double squares = 0;
  for (const auto& time : times) {
    sum += response(time);
    squares += response(time) * response(time);
  }
  EXPECT_NEAR(sum, 0, 1e-12);
  EXPECT_NEAR(squares / 5, 1, 1e-12);
  EXPECT_NEAR(response(std::exp(3.0)) - response(std::exp(2.0)),
              response(std::exp(9.0)) - response(std::exp(8.0)), 1e-12);
}

TEST(Response, BringsTheSlowSideNearer) {
  const Response response(0.5, Times{1.0, 2.0, 4.0, 8.0, 16.0});
  const double fast = response(4.0) - response(2.0);
  EXPECT_NEAR(response(8.0) - response(4.0), fast / 2, 1e-12);
  EXPECT_NEAR(response(64.0) - response(32.0), fast / 2, 1e-12);
}

TEST(Response, TakesAFailureForTheSlowestSuccess) {
  const Response response(0.5, Times{3.0, std::nullopt, 12.0, 5.0});
  EXPECT_EQ(response(std::nullopt), response(12.0));
}

TEST(Response, IsFiniteWhenTimesDoNotDifferOrNothingWorked) {
  EXPECT_EQ(Response(0.5, Times{7.0, 7.0})(7.0), 0);
  EXPECT_TRUE(std::isfinite(Response(0.5, Times{std::nullopt})(std::nullopt)));
  EXPECT_TRUE(std::isfinite(Response(0.5, {})(5.0)));
}

}  // namespace
}  // namespace tuner::search
