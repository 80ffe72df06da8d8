// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/occupancy.hpp"

#include <gtest/gtest.h>

namespace tuner::counters {
namespace {

/// "blocks of the limit" on an H200.
std::string occupancy_of(const Footprint& launch) {
  const auto found = occupancy(launch, space::device_profile("h200")->attributes);
  return found ? std::to_string(found->blocks) + " by " + std::string(found->limit) : "none";
}

// The figures are those of cudaOccupancyMaxActiveBlocksPerMultiprocessor's rules for 9.0: 64 warps,
// 32 blocks, 65536 registers, 228 KiB of shared memory less 1 KiB for each block.
TEST(Occupancy, IsTheLeastOfAllLimits) {
  EXPECT_EQ(occupancy_of({.threads = 256, .registers = 32}), "8 by threads");
  EXPECT_EQ(occupancy_of({.threads = 32, .registers = 32}), "32 by blocks");
  EXPECT_EQ(occupancy_of({.threads = 256, .registers = 128}), "2 by registers");
  EXPECT_EQ(occupancy_of({.threads = 256, .registers = 129}), "1 by registers") << "136 are given";
  EXPECT_EQ(occupancy_of({.threads = 128, .registers = 40, .shared_bytes = 113 * 1024}),
            "2 by shared memory");
  EXPECT_EQ(occupancy_of({.threads = 128, .registers = 40, .shared_bytes = 113 * 1024 + 1}),
            "1 by shared memory");
  EXPECT_EQ(occupancy_of({.threads = 1024, .registers = 255}), "none");
}

TEST(Occupancy, OfOddWarpsFillsSchedulersUnevenly) {
  EXPECT_EQ(occupancy_of({.threads = 160, .registers = 64}), "6 by registers") << "32 warps fit";
  EXPECT_EQ(occupancy_of({.threads = 160, .registers = 255}), "1 by registers");
  EXPECT_EQ(occupancy_of({.threads = 288, .registers = 224}), "none") << "9 warps count as 12";
}

TEST(Occupancy, IsAShareOfTheWarpsAndUnknownOnAProcessor) {
  const auto found =
      occupancy({.threads = 96, .registers = 200}, space::device_profile("h200")->attributes);
  EXPECT_DOUBLE_EQ(found->warps_percent, 100.0 * static_cast<double>(found->blocks) * 3 / 64);
  EXPECT_FALSE(occupancy({.threads = 96}, space::device_profile("cpu")->attributes));
  EXPECT_FALSE(occupancy({.threads = 96}, {.compute_capability = 90})) << "a database may say so";
}

}  // namespace
}  // namespace tuner::counters
