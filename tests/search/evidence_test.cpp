// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/evidence.hpp"

#include "tests/search/example_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tuner::search {
namespace {

/// A prior so wide that only the observations count.
const Prior kWide{.length = 1, .length_spread = 1e6};

TEST(Evidence, OfTwoObservationsIsTheFormula) {
  const space::Space space = free_space(1, 3);
  const Axes axes(space.definition());
  const Hyperparameters h{.log_lengths = {0}, .additive = 0, .noise = 0.1};
  const std::vector<Point> points{{0}, {2}};
  const std::vector<double> values{1.0, -0.5};
  // K = [1.1 e; e 1.1] with e = exp(-1): log |K| and valuesᵀ K⁻¹ values by hand.
  const double e = std::exp(-1.0);
  const double determinant = 1.1 * 1.1 - e * e;
  const double misfit = (1.1 * 1.0 + 1.1 * 0.25 + 2 * e * 0.5) / determinant;
  const double expected = -std::log(determinant) / 2 - std::log(misfit / 2);
  EXPECT_NEAR(log_evidence(axes, kWide, h, points, values), expected, 1e-6);
}

TEST(Evidence, FindsTheParameterThatMatters) {
  const space::Space space = free_space(3, 6);
  const Axes axes(space.definition());
  std::mt19937_64 random(3);
  std::vector<Point> points;
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    points.push_back(axes.point(space.sample(random)));
    values.push_back(std::sin(2.0 * points.back()[1]));  // the others do nothing
  }
  const Prior prior;
  const Hyperparameters start = likely_hyperparameters(axes, prior);
  const Hyperparameters found = improved(axes, prior, start, points, values, 200, random);
  EXPECT_GT(log_evidence(axes, prior, found, points, values),
            log_evidence(axes, prior, start, points, values));
  EXPECT_LT(found.log_lengths[1] + 1, found.log_lengths[0]);
  EXPECT_LT(found.log_lengths[1] + 1, found.log_lengths[2]);
}

TEST(Evidence, StaysWithinThePrior) {
  const space::Space space = free_space(2, 4);
  const Axes axes(space.definition());
  std::mt19937_64 random(4);
  const Prior product{.most_additive = 0};
  const std::vector<Point> points{{0, 0}, {1, 3}, {2, 2}, {3, 1}};
  const Hyperparameters found = improved(axes, product, likely_hyperparameters(axes, product),
                                         points, std::vector<double>{1, -1, 0.3, 0.2}, 100, random);
  EXPECT_EQ(found.additive, 0);
}

}  // namespace
}  // namespace tuner::search
