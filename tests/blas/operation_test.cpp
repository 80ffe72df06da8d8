// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/operation.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

namespace tuner::blas {
namespace {

TEST(PlaceName, NamesMatrixRowAndColumn) {
  const MatrixLayout layout{.rows = 2, .columns = 3, .ld = 5, .stride = 12};
  EXPECT_EQ(place_name(layout, 1, 6), "row 1, column 1");
  EXPECT_EQ(place_name(layout, 1, 4), "between the rows");
  EXPECT_EQ(place_name(layout, 2, 14), "matrix 1, row 0, column 2");
  EXPECT_EQ(place_name(layout, 2, 11), "between the rows") << "between the matrices";
  EXPECT_EQ(place_name(layout, 2, 30), "between the rows") << "behind all";
  const MatrixLayout interleaved{.rows = 2, .columns = 3, .ld = 10, .stride = 4};
  EXPECT_EQ(place_name(interleaved, 2, 15), "matrix 1, row 1, column 1");
  const MatrixLayout windows{.rows = 2, .columns = 3, .ld = 3, .stride = 1};
  EXPECT_EQ(place_name(windows, 4, 2), "") << "a place of several matrices";
}

TEST(OperandsOfAProduct, HaveTheBytesFromTheFirstElementToTheLast) {
  Operation operation{.type = ElementType::bf16,
                      .result = ElementType::f32,
                      .shape = packed_gemm(2, 3, 5, Transpose::yes, Transpose::no, 4)};
  auto operands = operands_of(operation);
  EXPECT_EQ(operands[kA]->size_bytes(), 4 * 2 * 5 * 2U);
  EXPECT_EQ(operands[kB]->size_bytes(), 4 * 5 * 3 * 2U);
  EXPECT_EQ(operands[kC]->size_bytes(), 4 * 2 * 3 * 4U);
  EXPECT_FALSE(operands[kBias] || operands[kResidual]) << "nothing follows";
  operation.epilogue = {.bias = Bias::per_row, .residual = true};
  std::get<GemmShape>(operation.shape).c = {.rows = 2, .columns = 3, .ld = 8, .stride = 20};
  operands = operands_of(operation);
  EXPECT_EQ(operands[kBias]->size_bytes(), 2 * 4U) << "one for all of a batch";
  EXPECT_EQ(operands[kResidual]->size_bytes(), operands[kC]->size_bytes());
  EXPECT_EQ(operands[kC]->size_bytes(), (3 * 20 + 8 + 3) * 4U)
      << "without what follows the last row";
  operation.epilogue.bias = Bias::per_column;
  EXPECT_EQ(operands_of(operation)[kBias]->size_bytes(), 3 * 4U);
}

TEST(OperandsOfAProduct, AreNoneWhereNoLibraryCouldMultiply) {
  GemmShape shape = packed_gemm(2, 3, 5);
  shape.b.ld = 2;
  EXPECT_THROW(static_cast<void>(operands_of({.type = ElementType::f32, .shape = shape})), Error);
}

}  // namespace
}  // namespace tuner::blas
