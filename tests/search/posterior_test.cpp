// SPDX-License-Identifier: Apache-2.0
// Against the textbook's formulas, solved directly.
#include "tuner/search/posterior.hpp"

#include "tests/search/example_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace tuner::search {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// x with A x = b, by elimination; A is symmetric and positive definite.
std::vector<double> solve(Matrix a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double factor = a[j][i] / a[i][i];
      for (std::size_t k = i; k < n; ++k) a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

class PosteriorTest : public testing::Test {
 protected:
  PosteriorTest() {
    for (std::uint64_t i = 0; i < space_.size(); ++i) points_.push_back(axes_.point(space_.at(i)));
  }

  /// Mean and variance at every point, given values at some of them.
  std::pair<std::vector<double>, std::vector<double>> expected(
      const std::vector<std::size_t>& observed, const std::vector<double>& values) const {
    const auto k = [&](std::size_t a, std::size_t b) {
      return covariance_.between(points_[a], points_[b]);
    };
    Matrix between;
    for (const std::size_t a : observed) {
      between.emplace_back();
      for (const std::size_t b : observed) between.back().push_back(k(a, b));
      between.back()[between.size() - 1] += covariance_.noise();
    }
    std::vector<double> means;
    std::vector<double> variances;
    for (std::size_t x = 0; x < points_.size(); ++x) {
      std::vector<double> to;
      for (const std::size_t o : observed) to.push_back(k(o, x));
      const std::vector<double> weights = solve(between, to);
      means.push_back(std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0));
      variances.push_back(1 - std::inner_product(weights.begin(), weights.end(), to.begin(), 0.0));
    }
    return {means, variances};
  }

  void expect_equal(const Posterior& posterior, const std::vector<std::size_t>& observed,
                    const std::vector<double>& values) const {
    const auto [means, variances] = expected(observed, values);
    for (std::size_t x = 0; x < points_.size(); ++x) {
      EXPECT_NEAR(posterior.mean(0, x), means[x], 1e-4);
      EXPECT_NEAR(posterior.mean(1, x), -2 * means[x], 2e-4);
      EXPECT_NEAR(posterior.variance(x), variances[x], 1e-4);
    }
  }

  space::Space space_ = example_space();
  Axes axes_{space_.definition()};
  Covariance covariance_{axes_,
                         Correlation::exponential,
                         {.log_lengths = {-0.3, 0.4}, .additive = 0.4, .noise = 0.05}};
  std::vector<Point> points_;
};

TEST_F(PosteriorTest, IsWhatTheFormulasGive) {
  Posterior posterior(covariance_);
  posterior.add(points_);
  const std::vector<std::size_t> observed{3, 11, 0, 17, 8};
  const std::vector<double> values{0.3, -1.2, 0.7, 1.4, -0.2};
  for (std::size_t i = 0; i < observed.size(); ++i) {
    posterior.observe(observed[i]);
    posterior.answer(i, {values[i], -2 * values[i]});
  }
  expect_equal(posterior, observed, values);
}

TEST_F(PosteriorTest, DoesNotDependOnWhenCandidatesCameOrInWhichOrderAnswersDid) {
  Posterior posterior(covariance_);
  const auto half = static_cast<std::ptrdiff_t>(points_.size() / 2);
  posterior.add({points_.begin(), points_.begin() + half});
  const std::vector<std::size_t> observed{3, 0, 8, 5};
  const std::vector<double> values{0.3, 0.7, -0.2, 2.0};
  for (const std::size_t candidate : observed) posterior.observe(candidate);
  posterior.answer(2, {5.0, 5.0});  // said again below
  for (const std::size_t i : std::vector<std::size_t>{3, 0})
    posterior.answer(i, {values[i], -2 * values[i]});
  posterior.add({points_.begin() + half, points_.end()});
  for (const std::size_t i : std::vector<std::size_t>{2, 1})
    posterior.answer(i, {values[i], -2 * values[i]});
  expect_equal(posterior, observed, values);
}

TEST_F(PosteriorTest, AConfigurationInFlightHasItsPredictedTime) {
  Posterior posterior(covariance_);
  posterior.add(points_);
  posterior.observe(3);
  posterior.answer(0, {-1.5, 0});
  const double before = posterior.mean(0, 9);
  const double uncertain = posterior.variance(9);
  posterior.observe(9);
  EXPECT_EQ(posterior.mean(0, 9), before);
  EXPECT_LT(posterior.variance(9), 0.1 * uncertain);
}

TEST_F(PosteriorTest, FindsTheScaleOfWhatItIsGiven) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 3);
  Posterior posterior(Covariance(axes_, Correlation::exponential,
                                 {.log_lengths = {-9, -9}, .additive = 0, .noise = 1e-4}));
  posterior.add(points_);
  double squares = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {  // all but independent of each other
    const double value = normal(random);
    squares += value * value;
    posterior.observe(i);
    posterior.answer(i, {value, 0});
  }
  EXPECT_NEAR(posterior.scale(0), squares / static_cast<double>(points_.size()), 0.01 * squares);
  EXPECT_EQ(posterior.scale(1), 0);
}

}  // namespace
}  // namespace tuner::search
