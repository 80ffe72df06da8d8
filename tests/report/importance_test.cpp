// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/importance.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace tuner::report {
namespace {

// The variance of 0.5·b, b uniform of {0, 1, 2}, over itself and the noise's.
constexpr double kTruth = 0.25 * (2.0 / 3) / (0.25 * (2.0 / 3) + 0.09);
constexpr int kStudies = 200;
constexpr int kMustHold = kStudies * 88 / 100;

std::uint32_t add_config(KernelHistory& kernel, std::uint64_t nothing, std::uint64_t decides) {
  const std::string json = fmt::format(R"({{"NOTHING":{},"DECIDES":{}}})", nothing, decides);
  return kernel.configs.add(static_cast<std::int64_t>(1 + nothing * 10 + decides), json);
}

/// Trials at which one of two parameters decides and the other does nothing but noise. Each size is
/// ten times as slow as the one before, and at every second one another value is the fastest.
KernelHistory two_parameters(std::size_t sizes, std::size_t trials, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.3);
  KernelHistory kernel;
  kernel.parameters = {"NOTHING", "DECIDES"};
  double level = 1e3;
  for (std::size_t s = 0; s < sizes; ++s, level *= 10) {
    SizeHistory& size = kernel.sizes.emplace_back();
    for (std::size_t i = 0; i < trials; ++i) {
      const std::uint64_t a = random() % 4, b = random() % 3;
      const auto rank = static_cast<double>(s % 2 == 0 ? b : 2 - b);
      const double ns = level * std::exp(0.5 * rank + noise(random));
      size.evaluations.push_back(
          {.config = add_config(kernel, a, b), .time = TimeSummary{ns, ns, ns, ns, 5}});
    }
    rank_trials(size.evaluations);
  }
  kernel.configs.order(kernel.parameters);
  return kernel;
}

bool holds_truth(const Importances& found) {
  return found->front().low <= kTruth && kTruth <= found->front().high;
}

TEST(Importance, IntervalsHoldTheTrueShareAboutAsOftenAsTheySay) {
  int held = 0;
  for (std::uint64_t seed = 0; seed < kStudies; ++seed) {
    const Importances found = importances(two_parameters(1, 200, seed)).of_sizes.front();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front().parameter, 1U);
    EXPECT_LT(found->back().share, 0.1);
    held += holds_truth(found) ? 1 : 0;
  }
  EXPECT_GE(held, kMustHold);
}

TEST(Importance, OverSizesIsWithinThemAndNeedsFewTrialsOfEach) {
  int held = 0;
  for (std::uint64_t seed = 0; seed < kStudies; ++seed) {
    const KernelImportances found = importances(two_parameters(10, 20, seed));
    EXPECT_FALSE(found.of_sizes.front()) << "20 trials tell nothing about a size";
    ASSERT_TRUE(found.over_sizes);
    EXPECT_EQ(found.over_sizes->front().parameter, 1U);
    EXPECT_LT(found.over_sizes->back().share, 0.25);
    held += holds_truth(found.over_sizes) ? 1 : 0;
  }
  EXPECT_GE(held, kMustHold);
}

TEST(Importance, OverSizesOfOneSizeIsThatOfTheSize) {
  const KernelImportances found = importances(two_parameters(1, 60, 3));
  ASSERT_TRUE(found.over_sizes);
  EXPECT_EQ(found.over_sizes->front().share, found.of_sizes.front()->front().share);
  EXPECT_EQ(found.over_sizes->front().low, found.of_sizes.front()->front().low);
}

TEST(Importance, FewTrialsOverAllSizesTellNothing) {
  EXPECT_FALSE(importances(two_parameters(3, 9, 1)).over_sizes);
  EXPECT_TRUE(importances(two_parameters(3, 10, 1)).over_sizes);
}

TEST(Importance, AParameterThatNoSizeVariedIsNotNamed) {
  KernelHistory kernel = two_parameters(3, 40, 1);
  Configurations varied;
  std::swap(kernel.configs, varied);
  for (std::size_t s = 0; s < kernel.sizes.size(); ++s) {
    for (ReportedTrial& trial : kernel.sizes[s].evaluations) {
      trial.config = add_config(kernel, s, std::stoull(varied.values(trial.config)[1]));
    }
  }
  kernel.configs.order(kernel.parameters);
  const Importances found = importances(kernel).over_sizes;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().parameter, 1U);
}

TEST(Importance, EqualTimesHaveNone) {
  KernelHistory kernel = two_parameters(2, 40, 1);
  for (SizeHistory& size : kernel.sizes) {
    for (ReportedTrial& trial : size.evaluations) {
      trial.time = TimeSummary{5, 5, 5, 5, 5};
    }
    rank_trials(size.evaluations);
  }
  EXPECT_FALSE(importances(kernel).of_sizes.front());
  EXPECT_FALSE(importances(kernel).over_sizes);
}

}  // namespace
}  // namespace tuner::report
