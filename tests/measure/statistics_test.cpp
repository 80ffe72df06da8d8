// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tuner::measure {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::vector<double> samples = {40, 10, 30, 20};  // type 7: rank = share · 3
  EXPECT_DOUBLE_EQ(*quantile(samples, 0.0), 10);
  EXPECT_DOUBLE_EQ(*quantile(samples, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(*quantile(samples, 0.5), 25);
  EXPECT_DOUBLE_EQ(*quantile(samples, 1.0), 40);
}

TEST(Quantile, OfNothingIsAbsent) {
  EXPECT_EQ(quantile({}, 0.5), std::nullopt);
  EXPECT_FALSE(summarise({}).has_value());
}

TEST(Summarise, GivesMedianQuartilesAndMinimum) {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  const auto summary = summarise(samples);
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->median_ns, 3);
  EXPECT_DOUBLE_EQ(summary->q1_ns, 2);
  EXPECT_DOUBLE_EQ(summary->q3_ns, 4);
  EXPECT_DOUBLE_EQ(summary->min_ns, 1);
  EXPECT_EQ(summary->samples, 5);
}

TEST(MedianInterval, TakesTheRanksOfTheBinomialDistribution) {
  // Tables of the distribution-free interval: n = 6 ranks 1 and 6, n = 10 ranks 2 and 9, n = 30
  // ranks 10 and 21.
  const auto ranks = [](int n) {
    std::vector<double> samples;
    for (int i = 1; i <= n; ++i) samples.push_back(i);
    const auto interval = median_interval(samples);
    return std::pair(interval->low, interval->high);
  };
  EXPECT_EQ(ranks(6), std::pair(1.0, 6.0));
  EXPECT_EQ(ranks(10), std::pair(2.0, 9.0));
  EXPECT_EQ(ranks(30), std::pair(10.0, 21.0));
}

TEST(MedianInterval, IsAbsentForTooFewSamples) {
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(MedianInterval, HoldsTheTrueMedianNineteenTimesInTwenty) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> skewed(1.0);
  const double true_median = std::log(2.0);
  int held = 0;
  constexpr int kTrials = 4'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(30);
    for (double& sample : samples) sample = skewed(random);
    const auto interval = median_interval(samples);
    if (interval->low <= true_median && true_median <= interval->high) ++held;
  }
  EXPECT_GE(held, kTrials * 94 / 100);
  EXPECT_LE(held, kTrials * 98 / 100);  // nor wider than it needs to be
}

TEST(MedianInterval, AgreesAboveAndBelowTheSwitchToTheNormalApproximation) {
  std::vector<double> samples(1'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i);
  const auto exact = median_interval(samples);
  samples.push_back(1'000);
  const auto approximate = median_interval(samples);
  EXPECT_NEAR(exact->low, approximate->low, 2);
  EXPECT_NEAR(exact->high, approximate->high, 2);
}

TEST(MedianAbsoluteDeviation, IsTheMedianDistanceFromTheMedian) {
  // Median 4; distances 3 2 1 0 2 5 96.
  EXPECT_EQ(median_absolute_deviation(std::vector<double>{1, 2, 3, 4, 6, 9, 100}), 2);
  EXPECT_EQ(median_absolute_deviation({}), std::nullopt);
}

TEST(RelativeErrorOfMedian, ComesFromTheMadAndTheCount) {
  // Median 100, MAD 1: 1.2533 · 1.4826 / √5 / 100.
  const std::vector<double> samples = {98, 99, 100, 101, 500};
  EXPECT_NEAR(*relative_error_of_median(samples), 0.0083099, 1e-7);
  EXPECT_EQ(relative_error_of_median(std::vector<double>{1}), std::nullopt);
}

TEST(RelativeErrorOfMedian, IsTheSpreadOfMediansOfNormalSamples) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(100, 1);
  std::vector<double> medians, errors;
  for (int trial = 0; trial < 2'000; ++trial) {
    std::vector<double> samples(100);
    for (double& sample : samples) sample = normal(random);
    medians.push_back(*quantile(samples, 0.5));
    errors.push_back(*relative_error_of_median(samples));
  }
  EXPECT_NEAR(*quantile(errors, 0.5) / *relative_deviation(medians), 1.0, 0.06);
}

TEST(RelativeDeviation, IsTheStandardDeviationOverTheMean) {
  EXPECT_DOUBLE_EQ(*relative_deviation(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9}),
                   std::sqrt(32.0 / 7) / 5);
  EXPECT_EQ(relative_deviation(std::vector<double>{3}), std::nullopt);
}

TEST(NoiseIsStable, WhenFourEstimatesAgreeWithinFivePerCent) {
  EXPECT_FALSE(noise_is_stable(std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(noise_is_stable(std::vector<double>{1, 1.02, 0.98, 1}));
  EXPECT_FALSE(noise_is_stable(std::vector<double>{1, 1.2, 0.8, 1}));
  EXPECT_TRUE(noise_is_stable(std::vector<double>{0, 0, 0, 0}));
}

TEST(PairedRatios, DividePairByPair) {
  EXPECT_THAT(paired_ratios(std::vector<double>{2, 9}, std::vector<double>{1, 3}),
              testing::ElementsAre(2, 3));
}

}  // namespace
}  // namespace tuner::measure
