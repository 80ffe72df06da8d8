// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/size_distribution.hpp"

#include "sample.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace tuner::family {
namespace {

using sample::altered;
using sample::usage_error;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

constexpr std::string_view kDrawn = R"json({
  "format": "distribution/1",
  "family": "gemm",
  "doc": "projections of two models",
  "shapes": [
    {"weight": 3, "dims": {"M": {"log_uniform": [1, 16384]}, "N,K": [[4096, 4096], [11008, 4096]], "TRANS_B": 1}},
    {"dims": {"M": {"uniform": [100, 1000], "multiple_of": 8}, "N": [128, 256], "K": 64, "TYPE": "bf16"}}
  ]
})json";

const Family& gemm() {
  static const Family family = load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
  return family;
}

SizeDistribution drawn_from(std::string_view text) {
  return parse_distribution(text, "d.json", gemm());
}

std::string error_of_drawing(std::string_view from, std::string_view to) {
  return usage_error([&] { return drawn_from(altered(kDrawn, from, to)); });
}

std::vector<std::string> texts(const std::vector<WeightedSize>& sizes) {
  std::vector<std::string> all;
  for (const WeightedSize& it : sizes) {
    all.push_back(space::canonical_size(it.size, gemm().problem.dims));
  }
  return all;
}

TEST(SizeDistribution, DrawsDifferentSizesOfItsShapes) {
  const std::vector<WeightedSize> drawn = drawn_from(kDrawn).draw(200, 1);
  ASSERT_THAT(drawn, SizeIs(200));
  std::size_t of_first = 0, small = 0;
  for (const std::string& size : texts(drawn)) {
    const std::int64_t m = std::stoll(size);
    if (size.find("TRANS_B=1") != std::string::npos) {
      ++of_first;
      if (m <= 128) ++small;
      EXPECT_THAT(size, testing::AnyOf(HasSubstr(",4096,4096,"), HasSubstr(",11008,4096,")));
    } else {
      EXPECT_THAT(size, AllOf(HasSubstr(",64,"), HasSubstr("TYPE=bf16")));
      EXPECT_THAT(m, AllOf(Ge(100), Le(1000)));
      EXPECT_EQ(m % 8, 0);
    }
  }
  EXPECT_THAT(of_first, AllOf(Ge(110U), Le(180U))) << "three of four";
  EXPECT_GT(small * 3, of_first) << "half of what is logarithmic lies below the middle";
}

TEST(SizeDistribution, TheSameSeedDrawsTheSame) {
  const SizeDistribution distribution = drawn_from(kDrawn);
  EXPECT_EQ(texts(distribution.draw(20, 7)), texts(distribution.draw(20, 7)));
  EXPECT_NE(texts(distribution.draw(20, 7)), texts(distribution.draw(20, 8)));
  EXPECT_EQ(texts(distribution.draw(3, 7)), (std::vector<std::string>{
                                                "960,128,64,TYPE=bf16",
                                                "3225,11008,4096,TRANS_B=1",
                                                "1531,11008,4096,TRANS_B=1",
                                            }))
      << "on every machine";
}

TEST(SizeDistribution, WhatIsDrawnOftenCountsMore) {
  const SizeDistribution distribution =
      drawn_from(R"json({"format": "distribution/1", "family": "gemm",
    "shapes": [{"weight": 9, "dims": {"M,N,K": [[1, 2, 3]]}},
               {"dims": {"M": 4, "N": 5, "K": [6, 7]}}]})json");
  const std::vector<WeightedSize> drawn = distribution.draw(100, 0);
  ASSERT_THAT(drawn, SizeIs(3)) << "it has no more";
  const auto heaviest = std::ranges::max_element(drawn, {}, &WeightedSize::weight);
  EXPECT_EQ(heaviest->size[0], 1);
}

TEST(SizeDistribution, MistakesNameTheirPlaceAndRemedy) {
  EXPECT_EQ(error_of_drawing("[1, 16384]", "[16384, 1]"),
            "d.json: shapes[0].dims.M.log_uniform: is an impossible range: 16384 is more than 1; "
            "write [smallest, largest]");
  EXPECT_THAT(error_of_drawing("[1, 16384]", "[0, 16384]"),
              HasSubstr("shapes[0].dims.M.log_uniform[0]"));
  EXPECT_EQ(
      error_of_drawing("[100, 1000], \"multiple_of\": 8", "[100, 1000], \"multiple_of\": 2000"),
      "d.json: shapes[1].dims.M: is an impossible range: from 100 to 1000 there is no "
      "multiple of 2000");
  EXPECT_EQ(error_of_drawing("[128, 256]", "[]"),
            "d.json: shapes[1].dims.N: must have at least 1 element, has 0");
  EXPECT_EQ(error_of_drawing("\"weight\": 3", "\"weight\": 0"),
            "d.json: shapes[0].weight: is not positive: leave out a shape that is not to count");
  EXPECT_THAT(error_of_drawing("\"weight\": 3", "\"weight\": -1"), HasSubstr("is not positive"));
  EXPECT_EQ(error_of_drawing("\"K\": 64, ", ""), "d.json: shapes[1].dims: does not say what K is");
  EXPECT_THAT(error_of_drawing("\"N,K\"", "\"N,M\""), HasSubstr("names M twice"));
  EXPECT_THAT(error_of_drawing("\"N,K\"", "\"N,L\""), HasSubstr("has no dimension \"L\""));
  EXPECT_THAT(error_of_drawing("bf16", "bf17"), HasSubstr("did you mean 'bf16'?"));
  EXPECT_THAT(error_of_drawing("[11008, 4096]", "[11008]"), HasSubstr("dims.N,K[1]"));
  EXPECT_THAT(error_of_drawing("\"family\": \"gemm\"", "\"family\": \"axpy\""),
              HasSubstr("is the family 'gemm'"));
  EXPECT_THAT(error_of_drawing("distribution/1", "distribution/2"), HasSubstr("is of format"));
}

TEST(SizeDistribution, ADistributionThatConstraintsForbidIsRefused) {
  EXPECT_THAT(usage_error([&] {
                const auto only =
                    drawn_from(altered(altered(kDrawn, "\"weight\": 3", "\"weight\": 1e9"),
                                       "\"TRANS_B\": 1", "\"LDC\": 1"));
                return only.draw(3, 0);
              }),
              AllOf(HasSubstr("d.json: of 1000 sizes"), HasSubstr("LDC")));
}

}  // namespace
}  // namespace tuner::family
