// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/portfolio.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tuner::select {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Le;
using testing::Optional;
using testing::SizeIs;

/// Without a library; all sizes count alike.
TimeMatrix matrix_of(std::vector<std::vector<std::optional<double>>> times_ns) {
  const std::size_t sizes = times_ns.front().size();
  return {.times_ns = std::move(times_ns),
          .library_ns = std::vector<std::optional<double>>(sizes),
          .weights = std::vector<double>(sizes, 1.0)};
}

TimeMatrix random_matrix(std::size_t candidates, std::size_t sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> ns(100, 400);
  std::uniform_real_distribution<double> weight(0.5, 2);
  TimeMatrix matrix;
  for (std::size_t size = 0; size < sizes; ++size) {
    matrix.weights.push_back(weight(random));
    matrix.library_ns.push_back(ns(random));
  }
  for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
    auto& times = matrix.times_ns.emplace_back();
    for (std::size_t size = 0; size < sizes; ++size) {
      const double time_ns = ns(random);
      times.push_back(time_ns < 130 ? std::nullopt : std::optional(time_ns));
    }
  }
  return matrix;
}

/// The least loss of any k candidates, each tried with all others.
double least_loss(const TimeMatrix& matrix, std::size_t k) {
  const std::size_t candidates = matrix.candidates();
  double least = kUnservedLoss;
  for (std::size_t set = 0; set < (std::size_t{1} << candidates); ++set) {
    TimeMatrix chosen = matrix;
    std::size_t members = 0;
    for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
      if ((set >> candidate) % 2 == 1) ++members;
    }
    if (members != k) continue;
    double sum = 0, weight = 0;
    for (std::size_t size = 0; size < matrix.sizes(); ++size) {
      double shortest = *matrix.library_ns[size], served = *matrix.library_ns[size];
      for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
        const auto& ns = matrix.times_ns[candidate][size];
        if (!ns) continue;
        shortest = std::min(shortest, *ns);
        if ((set >> candidate) % 2 == 1) served = std::min(served, *ns);
      }
      sum += matrix.weights[size] * std::log(served / shortest);
      weight += matrix.weights[size];
    }
    least = std::min(least, std::exp(sum / weight));
  }
  return least;
}

TEST(PortfolioTest, TwoSpecialistsBeatTheBestOnAverage) {
  // Greedily the third comes first; the exchange replaces it.
  const TimeMatrix matrix = matrix_of({{100, 400}, {400, 100}, {150, 150}});
  EXPECT_THAT(choose_portfolio(matrix, 1).members, ElementsAre(2));
  EXPECT_THAT(choose_portfolio(matrix, 2).members, testing::UnorderedElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(choose_portfolio(matrix, 2).loss, 1);
}

TEST(PortfolioTest, IsAsGoodAsTheBestOfAllChoicesOrNearly) {
  std::size_t best = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const TimeMatrix matrix = random_matrix(10, 8, seed);
    for (const std::size_t k : {1U, 2U, 3U, 4U}) {
      const double loss = choose_portfolio(matrix, k).loss;
      const double least = least_loss(matrix, k);
      EXPECT_GE(loss, least - 1e-9);
      EXPECT_THAT(loss, Le(least * 1.02)) << "seed " << seed << ", k " << k;
      if (loss <= least + 1e-9) ++best;
    }
  }
  EXPECT_GE(best, 150U) << "of 160";
}

TEST(PortfolioTest, ACandidateThatOnlyEqualsTheOthersIsNoMember) {
  const ChosenPortfolio chosen =
      choose_portfolio(matrix_of({{100, 200}, {100, 200}, {120, 210}}), 3);
  EXPECT_THAT(chosen.members, SizeIs(1));
}

TEST(PortfolioTest, CountsWhereTheLibraryIsFaster) {
  TimeMatrix matrix = matrix_of({{90, 300}, {200, 100}});
  matrix.library_ns = {100, 50};
  const ChosenPortfolio chosen = choose_portfolio(matrix, 2);
  EXPECT_THAT(chosen.members, ElementsAre(0));
  EXPECT_DOUBLE_EQ(chosen.loss, 1);
  EXPECT_THAT(chosen.library_loss, Optional(DoubleNear(std::sqrt(100.0 / 90), 1e-9)));
}

TEST(PortfolioTest, WhereTheLibraryIsAlwaysFasterTheNearestCandidateRemains) {
  TimeMatrix matrix = matrix_of({{300, 300}, {200, 200}});
  matrix.library_ns = {100, 100};
  EXPECT_THAT(choose_portfolio(matrix, 2).members, ElementsAre(1));
}

TEST(PortfolioTest, ACandidateThatNeverRanIsNotTheNearest) {
  // Each candidate counts as unserved: the second is slower than an unserved size counts.
  TimeMatrix matrix = matrix_of({{std::nullopt, std::nullopt}, {5000, std::nullopt}});
  matrix.library_ns = {100, 100};
  EXPECT_THAT(choose_portfolio(matrix, 2).members, ElementsAre(1));
  EXPECT_THAT(choose_portfolio(matrix_of({{std::nullopt}}), 1).members, IsEmpty());
}

TEST(PortfolioTest, ASizeThatOnlyAFewCandidatesServeIsServed) {
  const ChosenPortfolio chosen =
      choose_portfolio(matrix_of({{100, 100, std::nullopt}, {150, 150, 300}}), 1);
  EXPECT_THAT(chosen.members, ElementsAre(1));
  EXPECT_EQ(chosen.unserved, 0U);
  EXPECT_EQ(choose_portfolio(matrix_of({{100, std::nullopt}}), 1).unserved, 1U);
}

TEST(PortfolioTest, WeightsDecideBetweenSizes) {
  TimeMatrix matrix = matrix_of({{100, 200}, {200, 100}});
  matrix.weights = {1, 3};
  EXPECT_THAT(choose_portfolio(matrix, 1).members, ElementsAre(1));
  EXPECT_NEAR(choose_portfolio(matrix, 1).loss, std::pow(2.0, 0.25), 1e-9);
}

TEST(PortfolioTest, ALeftOutSizeIsServedByWhatTheOthersChose) {
  // Without the first size nobody asks for the candidate that is the fastest there.
  const TimeMatrix matrix = matrix_of({{100, 200, 200}, {300, 100, 100}});
  EXPECT_DOUBLE_EQ(choose_portfolio(matrix, 2).loss, 1);
  const double expected = std::cbrt(3.0);
  EXPECT_THAT(left_out_loss(matrix, 2), Optional(DoubleNear(expected, 1e-9)));
  EXPECT_EQ(left_out_loss(matrix_of({{100}}), 1), std::nullopt);
}

}  // namespace
}  // namespace tuner::select
