// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

Choice choice(const char* size, Rung rung, double ratio, double half_width) {
  Answer answer;
  answer.rung = rung;
  answer.expected_ns = 2000;
  if (rung != Rung::library) answer.kernel = "gemm_tiled";
  return {.shape = parse_shape(size),
          .answer = answer,
          .dispatched_ns = TimeSummary{.median_ns = 1000 * ratio},
          .cublas_ns = TimeSummary{.median_ns = 1000},
          .to_cublas =
              measure::MedianInterval{
                  .median = ratio, .low = ratio - half_width, .high = ratio + half_width},
          .worst_difference = 0.5};
}

/// Faster, surely slower, the library, and one that could not be measured.
RandomSizesResult figures() {
  RandomSizesResult result;
  result.seed = 7;
  result.choices = {choice("64,64,64", Rung::nearest, 0.5, 0.01),
                    choice("65,65,65", Rung::nearest, 2, 0.01),
                    choice("66,66,66", Rung::library, 1, 0.01),
                    {.shape = parse_shape("67,67,67"), .notes = {"not measured: why"}}};
  result.choices[0].regret = measure::MedianInterval{.median = 1.25, .low = 1.2, .high = 1.3};
  result.choices[2].kernel_to_cublas =
      measure::MedianInterval{.median = 1.5, .low = 1.4, .high = 1.6};
  return result;
}

TEST(Choice, IsJudgedByItsInterval) {
  EXPECT_EQ(verdict(choice("64,64,64", Rung::nearest, 0.98, 0.01)), "faster");
  EXPECT_EQ(verdict(choice("64,64,64", Rung::nearest, 0.98, 0.03)), "even");
  EXPECT_EQ(verdict(choice("64,64,64", Rung::nearest, 1.02, 0.03)), "even");
  EXPECT_EQ(verdict(choice("64,64,64", Rung::nearest, 1.02, 0.01)), "slower");
  EXPECT_EQ(verdict(choice("64,64,64", Rung::library, 1.02, 0.01)), "library");
  EXPECT_EQ(verdict({.shape = parse_shape("64,64,64")}), "-");
  Choice left = choice("64,64,64", Rung::library, 1, 0.01);
  left.kernel_to_cublas = measure::MedianInterval{.median = 0.98, .low = 0.95, .high = 1.01};
  EXPECT_EQ(verdict(left), "library");
  left.kernel_to_cublas = measure::MedianInterval{.median = 0.98, .low = 0.97, .high = 0.99};
  EXPECT_EQ(verdict(left), "missed");
}

TEST(Choice, IsGoodWhenItIsMeasuredAndRight) {
  Choice it = choice("64,64,64", Rung::nearest, 2, 0.01);
  EXPECT_TRUE(is_good(it));
  it.worst_difference = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_good(it));
  it.worst_difference = 1.5;
  EXPECT_FALSE(is_good(it));
  EXPECT_FALSE(is_good({.shape = parse_shape("64,64,64")}));
}

TEST(ChoiceSummary, IsOfWhatWasMeasured) {
  const ChoiceSummary summary = summarise(figures());
  ASSERT_TRUE(summary.to_cublas);
  EXPECT_EQ(summary.to_cublas->sizes, 3U);
  EXPECT_DOUBLE_EQ(summary.to_cublas->geometric_mean, 1);
  EXPECT_DOUBLE_EQ(summary.to_cublas->worst, 2);
  EXPECT_EQ(summary.to_cublas->worst_shape, "65x65x65");
  EXPECT_EQ(summary.to_cublas->beyond_5_percent, 1U);
  ASSERT_TRUE(summary.by_rows_of_16);
  EXPECT_DOUBLE_EQ(summary.by_rows_of_16->geometric_mean, 0.5);
  EXPECT_EQ(summary.by_odd_rows->sizes, 2U);
  EXPECT_EQ(summary.regret->sizes, 1U);
  EXPECT_DOUBLE_EQ(summary.regret->worst, 1.25);
  EXPECT_EQ(summary.kernels_left->sizes, 1U);
  EXPECT_DOUBLE_EQ(summary.kernels_left->worst, 1.5);
  EXPECT_EQ(summary.rungs.at("nearest"), 2U);
  EXPECT_EQ(summary.rungs.at("library"), 1U);
  // ln 4, 0 and ln 2
  EXPECT_NEAR(*summary.expectation_error, 0.8949, 1e-4);
}

TEST(ChoiceTable, ShowsEverySizeAndWhyOneIsMissing) {
  const std::string text = table(figures());
  EXPECT_THAT(text, HasSubstr("4 sizes, seed 7"));
  EXPECT_THAT(text, HasSubstr("0.500 +-0.010  faster   1.250 +-0.050"));
  EXPECT_THAT(text, HasSubstr("not measured: why"));
  EXPECT_THAT(text, HasSubstr("nearest answered 2 sizes"));
  EXPECT_THAT(table({.run = {}, .seed = 1, .choices = {}}), Not(HasSubstr("nan")));
}

TEST(ChoiceJson, IsNullWhereNothingWasMeasured) {
  const Json json = Json::parse(choices_json(figures()));
  EXPECT_EQ(json.at("format"), "random_sizes/1");
  EXPECT_EQ(json.at("sizes").at(1).at("answer").at("kernel"), "gemm_tiled");
  EXPECT_EQ(json.at("sizes").at(1).at("to_cublas").at("median"), 2);
  EXPECT_TRUE(json.at("sizes").at(3).at("to_cublas").is_null());
  EXPECT_TRUE(json.at("sizes").at(3).at("answer").is_null());
  EXPECT_EQ(json.at("summary").at("to_cublas").at("above_1.05"), 1);
  EXPECT_EQ(json.at("summary").at("rungs").at("library"), 1);
}

}  // namespace
}  // namespace tuner::gemm_benchmark
