// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

ContenderResult contender(Role role, std::string kernel, double median_ns) {
  return {
      .role = role,
      .kernel = std::move(kernel),
      .time_ns = {.median_ns = median_ns, .q1_ns = median_ns, .q3_ns = median_ns, .samples = 30}};
}

measure::MedianInterval interval(double median) {
  return {.median = median, .low = median - 0.01, .high = median + 0.01};
}

/// A large square, tuned; a skinny one, behind; an odd one that was not tuned.
BenchmarkResult figures() {
  ShapeResult square{.group = "squares", .shape = parse_shape("1000,1000,1000")};
  square.contenders = {contender(Role::ours, "gemm_tiled BM=128", 50e3),
                       contender(Role::cublas, "sgemm_a", 60e3),
                       contender(Role::cublas_lt, "sgemm_b", 55e3)};
  square.ours_to_cublas = interval(1.2);
  square.ours_to_cublas_lt = interval(1.1);
  square.clock_mhz = 1980;
  ShapeResult skinny{.group = "skinny", .shape = parse_shape("1,1000,1000")};
  skinny.contenders = {contender(Role::ours, "gemv", 2e3), contender(Role::cublas, "sgemv", 1.8e3)};
  skinny.ours_to_cublas = interval(0.9);
  skinny.worst_difference = 1.5;
  ShapeResult odd{.group = "squares", .shape = parse_shape("999,999,999")};
  odd.contenders = {contender(Role::cublas, "sgemm_a", 60e3)};
  odd.notes = {"not tuned"};
  return {.run = {.device = "NVIDIA H200",
                  .driver = "580.1",
                  .cuda = "13.0",
                  .library = "cuBLAS 13.1.0",
                  .date = "2026-11-21T00:00:00Z",
                  .copy_bytes_per_s = 4e12},
          .shapes = {square, skinny, odd}};
}

TEST(GeometricMean, TreatsTwiceAndHalfAlike) {
  EXPECT_DOUBLE_EQ(*geometric_mean(std::array{2.0, 0.5}), 1.0);
  EXPECT_DOUBLE_EQ(*geometric_mean(std::array{1.0, 8.0, 1.0}), 2.0);
  EXPECT_FALSE(geometric_mean({}));
}

TEST(Summary, MeansAreOverTheShapesThatHaveTheRatio) {
  const BenchmarkSummary summary = summarise(figures());
  ASSERT_THAT(summary.means, SizeIs(3));
  EXPECT_EQ(summary.means[0].group, "");
  EXPECT_EQ(summary.means[0].shapes, 3U);
  EXPECT_EQ(summary.means[0].tuned, 2U);
  EXPECT_NEAR(*summary.means[0].ours_to_cublas, std::sqrt(1.2 * 0.9), 1e-12);
  EXPECT_EQ(summary.means[1].group, "squares");
  EXPECT_EQ(summary.means[1].shapes, 2U);
  EXPECT_NEAR(*summary.means[1].ours_to_cublas, 1.2, 1e-12);
  EXPECT_FALSE(summary.means[2].ours_to_cublas_lt);
}

TEST(Summary, NamesWhatIsBehindAndWhatIsWrong) {
  const BenchmarkSummary summary = summarise(figures());
  ASSERT_TRUE(summary.worst);
  EXPECT_EQ(summary.worst->shape, "1x1000x1000");
  ASSERT_THAT(summary.behind, SizeIs(1));
  EXPECT_EQ(summary.behind[0].shape, "1x1000x1000");
  EXPECT_THAT(summary.wrong, ::testing::ElementsAre("1x1000x1000"));
}

TEST(Summary, ADifferenceThatIsNoNumberIsWrong) {
  BenchmarkResult result = figures();
  result.shapes[0].worst_difference = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(summarise(result).wrong, SizeIs(2));
}

TEST(Table, GivesTheRateThatDecides) {
  const std::string text = table(figures());
  EXPECT_THAT(text, HasSubstr("40.00 TF/s"));     // 2e9 / 50 us
  EXPECT_THAT(text, HasSubstr("2004 GB/s 50%"));  // 4.008e6 B / 2 us of 4 TB/s
  EXPECT_THAT(text, HasSubstr("1.200 +-0.010"));
  EXPECT_THAT(text, HasSubstr("ours: gemm_tiled BM=128; cublas: sgemm_a; cublasLt: sgemm_b"));
  EXPECT_THAT(text, HasSubstr("not tuned"));
  EXPECT_THAT(text, HasSubstr("below 0.97: 1x1000x1000 at 0.900"));
  EXPECT_THAT(text, HasSubstr("WRONG: 1x1000x1000"));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

TEST(ResultJson, HasTheRunTheShapesAndTheSummary) {
  const auto json = nlohmann::json::parse(result_json(figures()));
  EXPECT_EQ(json.at("format"), "gemm_benchmark/1");
  EXPECT_EQ(json.at("device"), "NVIDIA H200");
  EXPECT_EQ(json.at("copy_gbytes_per_s"), 4000.0);
  const auto& square = json.at("shapes").at(0);
  EXPECT_EQ(square.at("shape"), "1000x1000x1000");
  EXPECT_EQ(square.at("contenders").at(0).at("role"), "ours");
  EXPECT_EQ(square.at("contenders").at(0).at("tflops_per_s"), 40.0);
  EXPECT_EQ(square.at("ours_to_cublas").at("median"), 1.2);
  EXPECT_TRUE(square.at("ours_to_default").is_null());
  EXPECT_EQ(json.at("summary").at("below_0.97").at(0).at("shape"), "1x1000x1000");
  EXPECT_EQ(json.at("summary").at("wrong").at(0), "1x1000x1000");
}

}  // namespace
}  // namespace tuner::gemm_benchmark
