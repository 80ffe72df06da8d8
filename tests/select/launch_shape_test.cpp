// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/launch_shape.hpp"

#include <gtest/gtest.h>

namespace tuner::select {
namespace {

/// A block for each TILE rows, or as many as the device has multiprocessors with one tile after the
/// other; on a device of 132.
class LaunchImbalance : public testing::Test {
 protected:
  [[nodiscard]] double of(std::string_view config, std::int64_t rows) const {
    return launch_imbalance(kernel_, device_, kernel_.at(device_, {rows}),
                            space::config_from_json(kernel_.definition(), config));
  }

 private:
  static store::KernelRecord record() {
    store::KernelRecord record;
    record.family = "rows";
    record.kernel = "tiled";
    record.space_text = R"json({
      "format": "space/1", "family": "rows",
      "problem": { "dims": ["M"], "flops": "1000*M", "bytes": "4*M" },
      "kernels": { "tiled": {
        "parameters": { "TILE": {"values": [32, 256], "default": 32},
                        "PERSISTENT": {"values": [0, 1], "default": 0} },
        "entry": "rows<${TILE},${PERSISTENT}>",
        "derived": { "TILES": "ceil_div(M, TILE)" },
        "launch": { "grid": ["PERSISTENT ? min(dev.sm_count, TILES) : TILES"], "block": [128] }
      } } })json";
    return record;
  }

  RankedKernel kernel_ = RankedKernel(record());
  space::DeviceAttributes device_ = space::device_profile("h200")->attributes;
};

TEST_F(LaunchImbalance, IsNoneWhereAllMultiprocessorsHaveWholeTiles) {
  EXPECT_NEAR(of(R"({"TILE":32,"PERSISTENT":0})", 132 * 32), 0, 1e-9);
  EXPECT_NEAR(of(R"({"TILE":32,"PERSISTENT":0})", 3 * 132 * 32), 0, 1e-9);
}

TEST_F(LaunchImbalance, AWaveOfOneBlockCountsAsAWave) {
  EXPECT_NEAR(of(R"({"TILE":32,"PERSISTENT":0})", 133 * 32), 1 - 133 / (2 * 132.0), 1e-9);
}

TEST_F(LaunchImbalance, ATileReachesBeyondTheProblem) {
  EXPECT_NEAR(of(R"({"TILE":256,"PERSISTENT":0})", 132 * 256 - 128), 128 / (132 * 256.0), 1e-9);
}

TEST_F(LaunchImbalance, TilesOfPersistentBlocksCountAsBlocks) {
  for (const std::int64_t tiles : {5, 133, 200, 264, 1000}) {
    EXPECT_NEAR(of(R"({"TILE":32,"PERSISTENT":1})", tiles * 32),
                of(R"({"TILE":32,"PERSISTENT":0})", tiles * 32), 1e-9)
        << tiles;
  }
}

}  // namespace
}  // namespace tuner::select
