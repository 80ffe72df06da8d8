// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/cost_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tuner::select {
namespace {

/// A block for each TILE rows; the time of a block is its rows, whether they are there or not.
store::KernelRecord tiled_rows() {
  store::KernelRecord record;
  record.family = "rows";
  record.kernel = "tiled";
  record.space_text = R"json({
    "family": "rows",
    "problem": { "dims": ["M"], "flops": "1000*M", "bytes": "4*M" },
    "kernels": { "tiled": {
      "parameters": { "TILE": {"values": [32, 256], "default": 32} },
      "launch": { "grid": ["ceil_div(M, TILE)"], "block": [128] } } } })json";
  return record;
}

class CostModelTest : public testing::Test {
 protected:
  [[nodiscard]] LaunchShape shape(std::size_t config, const space::Size& size) const {
    return launch_shape(kernel, device, kernel.at(device, size), *configs.at(config).config, 32)
        .value();
  }

  StoredKernel kernel = stored_kernel(tiled_rows());
  space::DeviceAttributes device = space::device_profile("h200")->attributes;
  std::vector<KnownConfig> configs = {
      {.json = "32", .config = space::config_from_json(*kernel.definition, R"({"TILE":32})")},
      {.json = "256", .config = space::config_from_json(*kernel.definition, R"({"TILE":256})")}};
};

TEST_F(CostModelTest, KnowsAFullBlockFromTheLargestProblemOfTheSameGrid) {
  EXPECT_EQ(shape(0, {33}).blocks, 2);
  EXPECT_EQ(shape(0, {33}).block_flops, 32'000);
  EXPECT_EQ(shape(1, {33}).block_flops, 256'000);
}

TEST_F(CostModelTest, IsNotFittedToTooLittle) {
  const std::vector<KnownSize> sizes = {{"1000", {1000}}};
  configs[0].timings = {{.size = 0, .median_ns = 1000, .registers = 32}};
  EXPECT_EQ(CostModel::fit(kernel, device, sizes, configs), nullptr);
}

TEST_F(CostModelTest, ForetellsASizeBetweenTheTimedOnes) {
  std::vector<KnownSize> sizes;
  const auto ns = [](double blocks, double tile) {
    return 5000 + std::ceil(blocks / 132) * tile * 100;
  };
  for (std::int64_t m = 1000; m <= 1'000'000; m *= 2) {
    sizes.push_back({std::to_string(m), {m}});
    for (std::size_t c = 0; c < 2; ++c) {
      const double tile = c == 0 ? 32 : 256;
      configs[c].timings.push_back(
          {.size = sizes.size() - 1, .median_ns = ns(shape(c, {m}).blocks, tile), .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  for (const std::int64_t m : {3000, 50'000, 300'000}) {
    for (std::size_t c = 0; c < 2; ++c) {
      const double tile = c == 0 ? 32 : 256;
      const double truth = ns(shape(c, {m}).blocks, tile);
      EXPECT_NEAR(std::log(model->expected(c, shape(c, {m}), {m}).ns / truth), 0, 0.35)
          << m << " in tiles of " << tile;
    }
  }
}

TEST_F(CostModelTest, IsLessSureFarFromTheTimedSizes) {
  std::vector<KnownSize> sizes;
  for (const std::int64_t m : {100'000, 150'000, 200'000, 250'000, 300'000, 350'000}) {
    sizes.push_back({std::to_string(m), {m}});
    for (std::size_t c = 0; c < 2; ++c) {
      configs[c].timings.push_back(
          {.size = sizes.size() - 1, .median_ns = 100 * static_cast<double>(m), .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  const double near = model->expected(0, shape(0, {200'000}), {200'000}).error;
  const double far = model->expected(0, shape(0, {20'000'000}), {20'000'000}).error;
  EXPECT_GT(near, 0);
  EXPECT_LT(near, 0.25);
  EXPECT_GT(far, 0.4);
}

/// Code of its own for odd sizes.
store::KernelRecord aligned_rows() {
  store::KernelRecord record = tiled_rows();
  record.space_text = R"json({
    "family": "rows",
    "problem": { "dims": ["M"], "flops": "1000*M", "bytes": "4*M" },
    "kernels": { "tiled": {
      "entry": "rows<${VEC},${TILE}>",
      "derived": { "VEC": "M % 2 == 0 ? 2 : 1" },
      "parameters": { "TILE": {"values": [32, 256], "default": 32} },
      "launch": { "grid": ["ceil_div(M, TILE)"], "block": [128] } } } })json";
  return record;
}

TEST_F(CostModelTest, UsesTimesOfOtherCodeOfTheConfigurationALittle) {
  kernel = stored_kernel(aligned_rows());
  std::vector<KnownSize> sizes;
  for (std::int64_t m = 1000; m <= 1'000'000; m *= 2) {
    sizes.push_back({std::to_string(m), {m}});
    for (std::size_t c = 0; c < 2; ++c) {
      configs[c].timings.push_back(
          {.size = sizes.size() - 1, .median_ns = 100 * static_cast<double>(m), .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  const double same_code = std::log(model->expected(0, shape(0, {128'000}), {128'000}).ns);
  const double other_code = std::log(model->expected(0, shape(0, {128'001}), {128'001}).ns);
  EXPECT_GT(other_code, same_code) << "it may be slower";
  EXPECT_LT(other_code, same_code + 0.16) << "yet it is the same configuration";
}

}  // namespace
}  // namespace tuner::select
