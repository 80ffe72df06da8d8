// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/interleaved_image.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace tuner::backend {
namespace {

std::vector<std::byte> bytes(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string text(std::span<const std::byte> part) {
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

TEST(InterleavedImage, LiesBehindTheImage) {
  std::vector<std::byte> image = bytes("image");
  EXPECT_TRUE(interleaved_part(image).image.empty());
  append_interleaved(image, "another", Rounding::other);
  EXPECT_EQ(text(interleaved_part(image).image), "another");
  EXPECT_EQ(interleaved_part(image).rounding, Rounding::other);
  EXPECT_EQ(text(image).substr(0, 5), "image");
}

TEST(InterleavedImage, ASizeThatCannotBeIsNone) {
  std::vector<std::byte> image = bytes("image");
  append_interleaved(image, "another", Rounding::other);
  image.erase(image.begin(), image.begin() + 8);  // a part of the other one too
  EXPECT_TRUE(interleaved_part(image).image.empty());
  EXPECT_TRUE(interleaved_part(bytes("short")).image.empty());
  EXPECT_TRUE(interleaved_part({}).image.empty());
}

}  // namespace
}  // namespace tuner::backend
