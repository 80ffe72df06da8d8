// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include <gmock/gmock.h>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;

/// The shape of a reference with further keys, at N = 31.
blas::GemmShape gemm_shape_with(const std::string& keys) {
  const Family family = sample::parse(altered(
      kDocument, R"({"kernel": "plain"})",
      R"({"op": "gemm", "m": 3, "n": "N", "k": 5, "a": "x", "b": "x", "c": "y")" + keys + "}"));
  space::ExpressionValues values(space::attribute_fields().size(), 0);
  values.push_back(31);
  return gemm_shape(std::get<GemmReference>(family.check.reference), values);
}

TEST(GemmShapeOfAReference, IsPackedWhereNothingIsSaid) {
  const blas::GemmShape shape = gemm_shape_with("");
  EXPECT_EQ(shape.n, 31);
  EXPECT_EQ(shape.trans_a, Transpose::no);
  EXPECT_EQ(shape.batch, 1);
  EXPECT_EQ(shape.a.ld, 5);
  EXPECT_EQ(shape.b.ld, 31);
  EXPECT_EQ(shape.c.ld, 31);
}

TEST(GemmShapeOfAReference, FollowsItsKeys) {
  const blas::GemmShape shape = gemm_shape_with(
      R"(, "trans_a": 1, "trans_b": "N == 31", "batch": 2, "lda": 4, "ldc": "N + 1", "stride_b": 0)");
  EXPECT_EQ(shape.trans_b, Transpose::yes);
  EXPECT_EQ(shape.a.rows, 5) << "as stored";
  EXPECT_EQ(shape.a.columns, 3);
  EXPECT_EQ(shape.a.stride, 20) << "all rows with what lies between them";
  EXPECT_EQ(shape.b.ld, 5);
  EXPECT_EQ(shape.b.stride, 0);
  EXPECT_EQ(shape.c.stride, 96);
}

Family family_with(const std::string& keys) {
  return sample::parse(
      altered(kDocument, R"({"kernel": "plain"})",
              R"({"op": "geam", "m": 3, "n": "N", "a": "x", "c": "y")" + keys + "}"));
}

/// The shape of a reference with further keys, at N = 31.
blas::GeamShape geam_shape_with(const std::string& keys) {
  space::ExpressionValues values(space::attribute_fields().size(), 0);
  values.push_back(31);
  return std::get<blas::GeamShape>(library_operation(family_with(keys), values).value().shape);
}

TEST(GeamShapeOfAReference, TakesTheResultForBWhereThereIsNone) {
  const Family family = family_with(R"(, "trans_a": 1, "lda": 5, "ldc": "N + 1")");
  EXPECT_EQ(library_arguments(family.check)->b, "y");
  EXPECT_EQ(default_beta(family.check), 0) << "it is not read";
  const blas::GeamShape shape = geam_shape_with(R"(, "trans_a": 1, "lda": 5, "ldc": "N + 1")");
  EXPECT_EQ(shape.trans_a, Transpose::yes);
  EXPECT_EQ(shape.a.rows, 31) << "as stored";
  EXPECT_EQ(shape.a.columns, 3);
  EXPECT_EQ(shape.a.ld, 5);
  EXPECT_EQ(shape.c.ld, 32);
  EXPECT_EQ(shape.b.ld, 32);
  EXPECT_EQ(shape.b.rows, 3);
  EXPECT_THAT(operand_names(family.check, {}), testing::ElementsAre("x", "y", "y", "", ""));
}

TEST(GeamShapeOfAReference, AddsABOfItsOwn) {
  const std::string keys = R"(, "b": "x", "trans_b": 1, "ldb": 4)";
  EXPECT_EQ(default_beta(family_with(keys).check), 1);
  const blas::GeamShape shape = geam_shape_with(keys);
  EXPECT_EQ(shape.trans_a, Transpose::no);
  EXPECT_EQ(shape.a.ld, 31) << "packed where nothing is said";
  EXPECT_EQ(shape.b.rows, 31);
  EXPECT_EQ(shape.b.ld, 4);
}

}  // namespace

}  // namespace tuner::family
