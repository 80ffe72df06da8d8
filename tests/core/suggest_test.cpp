// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tuner {
namespace {

const std::vector<std::string> kNames = {"TILE_M", "TILE_N", "BLOCK_X"};

TEST(Closest, FindsAMisspeltName) {
  EXPECT_EQ(closest("TIEL_M", kNames), "TILE_M");  // transposed
  EXPECT_EQ(closest("block_x", kNames), "BLOCK_X");
  EXPECT_EQ(closest("TILEN", kNames), "TILE_N");
}

TEST(Closest, DoesNotGuessWhenNothingIsClose) {
  EXPECT_EQ(closest("UNROLL", kNames), std::nullopt);
  EXPECT_EQ(closest(std::string(100'000, 'x'), kNames), std::nullopt);
}

TEST(DidYouMean, SuggestsTheClosestOrListsWhatIsKnown) {
  EXPECT_EQ(did_you_mean("TILE_X", kNames), " (did you mean 'TILE_M'?)");
  EXPECT_EQ(did_you_mean("UNROLL", kNames), " (known: TILE_M, TILE_N, BLOCK_X)");
  EXPECT_EQ(did_you_mean("UNROLL", {}), "");
}

}  // namespace
}  // namespace tuner
