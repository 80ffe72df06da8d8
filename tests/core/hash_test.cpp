// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

TEST(ContentHash, IsTheSameForTheSameParts) {
  EXPECT_EQ(content_hash({"source", "-DA=1"}), content_hash({"source", "-DA=1"}));
  EXPECT_EQ(content_hash({"source"}).size(), 32U);
}

TEST(ContentHash, TellsWhereOnePartEndsAndTheNextBegins) {
  EXPECT_NE(content_hash({"-I", "-O2"}), content_hash({"-I-O2"}));
  EXPECT_NE(content_hash({"ab", "c"}), content_hash({"a", "bc"}));
  EXPECT_NE(content_hash({"a", ""}), content_hash({"a"}));
}

TEST(ContentHash, ChangesWithEveryByteAndTheOrder) {
  EXPECT_NE(content_hash({"kernel"}), content_hash({"kernem"}));
  EXPECT_NE(content_hash({"a", "b"}), content_hash({"b", "a"}));
}

}  // namespace
}  // namespace tuner
