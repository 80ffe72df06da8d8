// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/size_of.hpp"

#include "tuner/family/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner::gemm_benchmark {
namespace {

const family::Family& gemm() {
  static const family::Family family = family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
  return family;
}

TEST(SizeOf, EveryShapeOfTheSuiteIsASizeOfTheShippedFamily) {
  for (const SuiteShape& each : read_suite(TUNER_SOURCE_DIR "/spaces/suites/fp32.json")) {
    EXPECT_TRUE(size_of(each.shape, gemm().problem)) << display(each.shape);
  }
}

TEST(SizeOf, GivesDimensionsThatShapesDoNotHaveTheirDefaults) {
  const auto size = size_of(parse_shape("3,5,7,TRANS_B=1"), gemm().problem);
  ASSERT_TRUE(size);
  EXPECT_EQ(*size, space::parse_size("3,5,7,TRANS_B=1", gemm().problem.dims));
}

TEST(SizeOf, IsNoneWhereTheFamilyLacksADimensionThatMatters) {
  family::Family plain = gemm();
  plain.problem.dims = space::Dimensions(std::vector<std::string>{"M", "N", "K"});
  EXPECT_TRUE(size_of(parse_shape("3,5,7"), plain.problem));
  EXPECT_FALSE(size_of(parse_shape("3,5,7,BATCH=2"), plain.problem));
}

}  // namespace
}  // namespace tuner::gemm_benchmark
