// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/compressed.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

/// All bytes, and many of a kind.
std::string bytes(std::size_t size) {
  std::string result;
  for (std::size_t i = 0; i < size; ++i) result += static_cast<char>(i < 700 ? i * 7 : 3);
  return result;
}

TEST(Compressed, GivesTheBytesBackOfAnyNumber) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 255U, 100'000U}) {
    for (const Compression compression : {Compression::fast, Compression::best}) {
      EXPECT_EQ(decompressed(compressed(bytes(size), compression), size), bytes(size)) << size;
    }
  }
}

TEST(Compressed, IsSmaller) {
  EXPECT_LT(compressed(bytes(100'000), Compression::best).size(), 2'000U);
}

TEST(Compressed, AnotherNumberOfBytesIsNone) {
  const std::string text = compressed(bytes(1000), Compression::best);
  EXPECT_EQ(decompressed(text, 999), std::nullopt);
  EXPECT_EQ(decompressed(text, 1001), std::nullopt);
}

TEST(Compressed, WhatIsDamagedIsNone) {
  const std::string text = compressed(bytes(1000), Compression::best);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == '*' ? '+' : '*';
    EXPECT_EQ(decompressed(damaged, 1000), std::nullopt) << i;
    EXPECT_EQ(decompressed(text.substr(0, i), 1000), std::nullopt) << i;
  }
  EXPECT_EQ(decompressed(text + "AAAA", 1000), std::nullopt);
}

}  // namespace
}  // namespace tuner
