// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

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

/// The digest by `printf '\3\0\0\0\0\0\0\0abc' | sha256sum`.
TEST(Sha256, IsThatOfTheLengthAndTheBytesOfEachPart) {
  const std::vector<std::string_view> parts = {"abc"};
  EXPECT_EQ(sha256(parts), "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391");
  EXPECT_NE(sha256(std::vector<std::string_view>{"ab", "c"}), sha256(parts));
}

}  // namespace
}  // namespace tuner
