// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

TEST(Shape, HasRowsWithoutPaddingWhereNothingElseIsSaid) {
  const Shape shape = parse_shape("3,5,7");
  EXPECT_EQ(shape, (Shape{.m = 3, .n = 5, .k = 7, .lda = 7, .ldb = 5, .ldc = 5}));
}

TEST(Shape, StoresATransposedMatrixTheOtherWay) {
  const Shape shape = parse_shape("3x5x7,TRANS_A=1,TRANS_B=1");
  EXPECT_EQ(shape.lda, 3);
  EXPECT_EQ(matrix_a(shape).rows, 7);
  EXPECT_EQ(shape.ldb, 7);
  EXPECT_EQ(matrix_b(shape).rows, 5);
}

TEST(Shape, IsWrittenAsItIsRead) {
  for (const char* text :
       {"3x5x7", "3x5x7,BATCH=9", "3x5x7,TRANS_A=1,TRANS_B=1,LDA=4,LDB=8,LDC=6,ALIGN=2",
        "3x5x7,TYPE=bf16", "3x5x7,BATCH=2,TYPE=bf16_f32"}) {
    EXPECT_EQ(display(parse_shape(text)), text);
  }
  EXPECT_EQ(display(parse_shape("3,5,7,BATCH=1,LDA=7,ALIGN=4,TYPE=f32")), "3x5x7");
}

TEST(Shape, SaysWhatIsWrong) {
  const auto says = [](const char* text, const char* what) {
    EXPECT_THAT([&] { static_cast<void>(parse_shape(text)); },
                ThrowsMessage<Error>(HasSubstr(what)))
        << text;
  };
  says("3,5", "K is missing");
  says("3,5,7,9", "after M, N and K come names");
  says("3,5,7q", "'7q' is no whole number");
  says("3,5,0", "K=0 is not in 1");
  says("3,5,7,BATHC=2", "did you mean 'BATCH'");
  says("3,5,7,BATCH=2,BATCH=3", "BATCH appears twice");
  says("3,5,7,TYPE=bf61", "did you mean 'bf16'");
  says("3,5,7,TYPE=bf16,TYPE=f32", "TYPE appears twice");
  says("3,5,7,TRANS_A=2", "are 0 or 1");
  says("3,5,7,ALIGN=3", "ALIGN is 1, 2 or 4");
  says("3,5,7,LDA=6", "LDA=6 is less than the row's 7 elements");
  says("3,5,7,TRANS_B=1,LDB=6", "LDB=6 is less than the row's 7 elements");
}

TEST(Shape, CountsWorkWithoutAndMemoryWithThePadding) {
  const Shape shape = parse_shape("2,3,4,BATCH=5,LDA=10");
  EXPECT_EQ(flops(shape), 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(bytes(shape), 4 * 5 * (2 * 4 + 4 * 3 + 2 * 3));
  EXPECT_EQ(operand_bytes(shape), 4 * 5 * (2 * 10 + 4 * 3 + 2 * 3));
  const Shape bytes_in = parse_shape("2,3,4,BATCH=5,LDA=10,TYPE=s8");
  EXPECT_EQ(bytes(bytes_in), 5 * (2 * 4 + 4 * 3 + 4 * 2 * 3));
  EXPECT_EQ(operand_bytes(bytes_in), 5 * (2 * 10 + 4 * 3 + 4 * 2 * 3));
}

TEST(Shape, BeginsBesideABoundaryWhenItIsAlignedToLess) {
  EXPECT_EQ(offset_bytes(parse_shape("8,8,8,ALIGN=4")), 0);
  EXPECT_EQ(offset_bytes(parse_shape("8,8,8,ALIGN=2")), 8);
  EXPECT_EQ(offset_bytes(parse_shape("8,8,8,ALIGN=1")), 4);
}

TEST(Shape, RotatesOverThreeTimesTheCache) {
  constexpr std::int64_t kL2_bytes = 60'000'000;
  const Shape middle = parse_shape("1024,1024,1024");
  const std::size_t sets = operand_sets(middle, kL2_bytes);
  EXPECT_GE(static_cast<std::int64_t>(sets) * operand_bytes(middle), 3 * kL2_bytes);
  EXPECT_LT(static_cast<std::int64_t>(sets - 1) * operand_bytes(middle), 3 * kL2_bytes);
  EXPECT_EQ(operand_sets(parse_shape("16384,16384,16384"), kL2_bytes), 2U);
  EXPECT_EQ(operand_sets(parse_shape("1,1,1"), kL2_bytes), 1024U);
}

std::string suite(const std::string& groups) {
  return R"({"format": "suite/1", "family": "gemm", "doc": "d", "groups": [)" + groups + "]}";
}

std::vector<SuiteShape> shipped() {
  return read_suite(TUNER_SOURCE_DIR "/spaces/suites/fp32.json");
}

TEST(Suite, HasGroupsOfListsAndObjects) {
  const std::string text = suite(R"({"name": "a", "doc": "d", "sizes": [[1, 2, 3]]},
      {"name": "b", "sizes": [{"M": 1, "N": 2, "K": 3, "BATCH": 4}]})");
  const std::vector<SuiteShape> all = parse_suite(text, "s.json", "");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].group, "a");
  EXPECT_EQ(display(all[0].shape), "1x2x3");
  EXPECT_EQ(display(all[1].shape), "1x2x3,BATCH=4");
  const std::vector<SuiteShape> one = parse_suite(text, "s.json", "b");
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].group, "b");
}

TEST(Suite, SaysWhatIsWrongAndWhere) {
  const auto says = [](const std::string& text, const char* group, const char* what) {
    EXPECT_THAT([&] { static_cast<void>(parse_suite(text, "s.json", group)); },
                ThrowsMessage<Error>(HasSubstr(what)));
  };
  const std::string good = R"({"name": "large", "sizes": [[1, 2, 3]]})";
  says(suite(good), "larg", "s.json: there is no group 'larg' (did you mean 'large'?)");
  says(suite(R"({"name": "a", "sizes": [[1, 2]]})"), "", "groups[0].sizes[0]");
  says(suite(R"({"name": "a", "sizes": [{"M": 1, "N": 2}]})"), "", "sizes[0]: K is missing");
  says(suite(good + "," + good), "", "1x2x3 appears twice, the first time in 'large'");
  says(R"({"format": "suite/2", "family": "gemm", "groups": []})", "", "suite/1");
  says(R"({"format": "suite/1", "family": "copy", "groups": []})", "", "multiplies matrices only");
}

TEST(Suite, ShippedOneHasTheGroupsAndShapesThatItIsMadeFor) {
  const std::vector<SuiteShape> all = shipped();
  EXPECT_GE(all.size(), 60U);
  std::set<std::string> groups;
  std::set<std::string> shapes;
  for (const SuiteShape& each : all) {
    groups.insert(each.group);
    shapes.insert(display(each.shape));
  }
  EXPECT_EQ(groups, (std::set<std::string>{"batched", "deep_k", "layouts", "odd", "shallow_k",
                                           "skinny", "squares", "transformer"}));
  for (const int n : {128, 256, 512, 1000, 1024, 1536, 2048, 3000, 4096, 6144, 8192, 16384}) {
    EXPECT_TRUE(shapes.contains(fmt::format("{0}x{0}x{0}", n))) << n;
  }
  for (const char* layout : {"", ",TRANS_B=1", ",TRANS_A=1", ",TRANS_A=1,TRANS_B=1"}) {
    EXPECT_TRUE(shapes.contains(std::string("4096x4096x4096") + layout)) << layout;
  }
}

TEST(Suite, ShippedOneFitsIntoEightGibibytesAShape) {
  for (const SuiteShape& each : shipped()) {
    EXPECT_LE(operand_bytes(each.shape), std::int64_t{8} << 30) << display(each.shape);
  }
}

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
