// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/geam_shape.hpp"

#include "sample.hpp"

#include <gmock/gmock.h>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;

Family family_with(const std::string& keys) {
  return sample::parse(
      altered(kDocument, R"({"kernel": "plain"})",
              R"({"op": "geam", "m": 3, "n": "N", "a": "x", "c": "y")" + keys + "}"));
}

/// The shape of a reference with further keys, at N = 31.
GeamShape geam_shape_with(const std::string& keys) {
  space::ExpressionValues values(space::attribute_fields().size(), 0);
  values.push_back(31);
  return std::get<GeamShape>(library_shape(family_with(keys).check, values).value());
}

TEST(GeamShapeOfAReference, TakesTheResultForBWhereThereIsNone) {
  const Family family = family_with(R"(, "trans_a": 1, "lda": 5, "ldc": "N + 1")");
  EXPECT_EQ(library_arguments(family.check)->b, "y");
  EXPECT_EQ(default_beta(family.check), 0) << "it is not read";
  const GeamShape shape = geam_shape_with(R"(, "trans_a": 1, "lda": 5, "ldc": "N + 1")");
  EXPECT_EQ(shape.trans_a, Transpose::yes);
  EXPECT_EQ(shape.a.rows, 31) << "as stored";
  EXPECT_EQ(shape.a.columns, 3);
  EXPECT_EQ(shape.a.ld, 5);
  EXPECT_EQ(shape.c.ld, 32);
  EXPECT_EQ(shape.b.ld, 32);
  EXPECT_EQ(shape.b.rows, 3);
}

TEST(GeamShapeOfAReference, AddsABOfItsOwn) {
  const std::string keys = R"(, "b": "x", "trans_b": 1, "ldb": 4)";
  EXPECT_EQ(default_beta(family_with(keys).check), 1);
  const GeamShape shape = geam_shape_with(keys);
  EXPECT_EQ(shape.trans_a, Transpose::no);
  EXPECT_EQ(shape.a.ld, 31) << "packed where nothing is said";
  EXPECT_EQ(shape.b.rows, 31);
  EXPECT_EQ(shape.b.ld, 4);
}

}  // namespace
}  // namespace tuner::family
