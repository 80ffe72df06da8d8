// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/library_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tuner::select {
namespace {

RankedKernel product() {
  store::KernelRecord record;
  record.family = "product";
  record.kernel = "plain";
  record.space_text = R"json({
    "format": "space/1", "family": "product",
    "problem": {
      "dims": ["M", "K", {"name": "TRANS", "values": [0, 1], "default": 0},
               {"name": "LDA", "default": "K"}],
      "flops": "2*M*K", "bytes": "4*M*K" },
    "kernels": { "plain": {
      "entry": "product<${TILE}>",
      "parameters": { "TILE": {"values": [32], "default": 32} },
      "launch": { "grid": ["M"], "block": [128] } } } })json";
  return RankedKernel(record);
}

class LibraryModelTest : public testing::Test {
 protected:
  [[nodiscard]] SizeFeatures at(std::int64_t m, std::int64_t k) const {
    return size_features({m, k, 0, k}, kernel);
  }

  RankedKernel kernel = product();
};

TEST_F(LibraryModelTest, IsSureNextToWhatWasTimed) {
  const std::vector<LibraryRatio> known = {{at(1000, 1000), 0.4}, {at(64, 8000), -0.1}};
  EXPECT_NEAR(expected_ratio(known, at(1000, 1000)).ln_ratio, 0.4, 0.08);
  EXPECT_NEAR(expected_ratio(known, at(64, 8000)).ln_ratio, -0.1, 0.08);
  EXPECT_LT(expected_ratio(known, at(1000, 1000)).error,
            0.7 * expected_ratio(known, at(16, 16)).error);
}

TEST_F(LibraryModelTest, IsUnsureFarFromIt) {
  const std::vector<LibraryRatio> known = {{at(1000, 1000), 0.4}, {at(2000, 1000), 0.4}};
  const ExpectedRatio far = expected_ratio(known, at(16, 16));
  EXPECT_GT(far.error, 0.19);
  EXPECT_LT(far.ln_ratio, 0.2) << "two sizes say little of all";
  EXPECT_GT(expected_ratio({}, at(16, 16)).error, 0.19);
  EXPECT_EQ(expected_ratio({}, at(16, 16)).ln_ratio, 0);
}

TEST_F(LibraryModelTest, IsSurerWhereRatiosDoNotJump) {
  std::vector<LibraryRatio> steady, jumping;
  for (std::int64_t m = 16, i = 0; m < 8000; m *= 2) {
    for (std::int64_t k = 16; k < 8000; k *= 4, ++i) {
      steady.push_back({at(m, k), 0.2});
      jumping.push_back({at(m, k), i % 2 == 0 ? 0.5 : -0.1});
    }
  }
  const SizeFeatures between = at(700, 700);
  EXPECT_LT(expected_ratio(steady, between).error, 0.6 * expected_ratio(jumping, between).error);
}

TEST_F(LibraryModelTest, KnowsThatRowsAreAligned) {
  const double aligned = squared_distance(at(1000, 1000), at(1000, 1004));
  const double odd = squared_distance(at(1000, 1000), at(1000, 1003));
  EXPECT_LT(aligned, 0.001);
  EXPECT_GT(odd, 0.2);
  EXPECT_GT(odd, squared_distance(at(1000, 1000), at(1000, 1002)));
}

TEST_F(LibraryModelTest, TakesTheNearestOfMany) {
  std::vector<LibraryRatio> known;
  for (std::int64_t m = 0; m < 300; ++m) known.push_back({at(8 + m, 8), 0.4});
  for (std::int64_t m = 0; m < 300; ++m) known.push_back({at(8000 + m, 8000), -0.4});
  EXPECT_NEAR(expected_ratio(known, at(100, 8)).ln_ratio, 0.4, 0.02);
  EXPECT_NEAR(expected_ratio(known, at(8100, 8000)).ln_ratio, -0.4, 0.02);
}

}  // namespace
}  // namespace tuner::select
