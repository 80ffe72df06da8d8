// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::HasSubstr;
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

}  // namespace
}  // namespace tuner::gemm_benchmark
