// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/cost_model.hpp"

#include "tuner/select/library_model.hpp"

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
    "format": "space/1", "family": "rows",
    "problem": { "dims": ["M"], "flops": "1000*M", "bytes": "4*M" },
    "kernels": { "tiled": {
      "entry": "rows<${TILE}>",
      "parameters": { "TILE": {"values": [32, 256], "default": 32} },
      "launch": { "grid": ["ceil_div(M, TILE)"], "block": [128] } } } })json";
  return record;
}

class CostModelTest : public testing::Test {
 protected:
  [[nodiscard]] ExpectedTime expected(const CostModel& model, std::size_t config,
                                      const space::Size& size) const {
    return CostModel::AtSize(model, size).expected(config, shape(config, size));
  }

  [[nodiscard]] LaunchShape shape(std::size_t config, const space::Size& size) const {
    return launch_shape(kernel, device, kernel.at(device, size), *configs.at(config).config, 32)
        .value();
  }

  RankedKernel kernel = RankedKernel(tiled_rows());
  space::DeviceAttributes device = space::device_profile("h200")->attributes;
  std::vector<KnownConfig> configs = {
      {.json = "32", .config = space::config_from_json(kernel.definition(), R"({"TILE":32})")},
      {.json = "256", .config = space::config_from_json(kernel.definition(), R"({"TILE":256})")}};
};

TEST_F(CostModelTest, KnowsAFullBlockFromTheLargestProblemOfTheSameGrid) {
  EXPECT_EQ(shape(0, {33}).blocks, 2);
  EXPECT_EQ(shape(0, {33}).block_flops, 32'000);
  EXPECT_EQ(shape(1, {33}).block_flops, 256'000);
}

TEST_F(CostModelTest, IsNotFittedToTooLittle) {
  const std::vector<KnownSize> sizes = {{"1000", {1000}}};
  configs[0].timings = {{.size = 0, .ns = 1000, .registers = 32}};
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
          {.size = sizes.size() - 1, .ns = ns(shape(c, {m}).blocks, tile), .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  for (const std::int64_t m : {3000, 50'000, 300'000}) {
    for (std::size_t c = 0; c < 2; ++c) {
      const double tile = c == 0 ? 32 : 256;
      const double truth = ns(shape(c, {m}).blocks, tile);
      EXPECT_NEAR(std::log(expected(*model, c, {m}).ns / truth), 0, 0.35)
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
          {.size = sizes.size() - 1, .ns = 100 * static_cast<double>(m), .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  const double near = expected(*model, 0, {200'000}).error;
  const double far = expected(*model, 0, {20'000'000}).error;
  EXPECT_GT(near, 0);
  EXPECT_LT(near, 0.25);
  EXPECT_GT(far, 0.25);
  EXPECT_GT(far, 3 * near);
}

TEST_F(CostModelTest, AKindOfProblemIsNoExtentThoughItsNumberIsInTheFlops) {
  store::KernelRecord record = tiled_rows();
  const std::string dims = R"("dims": ["M"], "flops": "1000*M")";
  record.space_text.replace(
      record.space_text.find(dims), dims.size(),
      R"("dims": ["M", {"name": "MODE", "values": [0, 1]}], "flops": "1000*(1 + MODE)*M")");
  kernel = RankedKernel(record);
  configs[0].config = space::config_from_json(kernel.definition(), R"({"TILE":32})");
  configs[1].config = space::config_from_json(kernel.definition(), R"({"TILE":256})");
  std::vector<KnownSize> sizes;
  for (const std::int64_t m : {100'000, 200'000, 300'000, 400'000}) {
    for (const std::int64_t mode : {0, 1}) {
      sizes.push_back({std::to_string(m) + "," + std::to_string(mode), {m, mode}});
      for (auto& config : configs) {
        config.timings.push_back({.size = sizes.size() - 1,
                                  .ns = static_cast<double>(100 * (1 + mode) * m),
                                  .registers = 32});
      }
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  for (const std::int64_t mode : {0, 1}) {
    EXPECT_NEAR(expected(*model, 0, {250'000, mode}).ns,
                static_cast<double>(25'000'000 * (1 + mode)), 5e6)
        << mode;
  }
  EXPECT_EQ(size_features({100, 0}, kernel), size_features({100, 1}, kernel));
}

/// Code of its own for odd sizes.
store::KernelRecord aligned_rows() {
  store::KernelRecord record = tiled_rows();
  record.space_text = R"json({
    "format": "space/1", "family": "rows",
    "problem": { "dims": ["M"], "flops": "1000*M", "bytes": "4*M" },
    "kernels": { "tiled": {
      "entry": "rows<${VEC},${TILE}>",
      "derived": { "VEC": "M % 2 == 0 ? 2 : 1" },
      "parameters": { "TILE": {"values": [32, 256], "default": 32} },
      "launch": { "grid": ["ceil_div(M, TILE)"], "block": [128] } } } })json";
  return record;
}

TEST_F(CostModelTest, UsesTimesOfOtherCodeOfTheConfigurationALittle) {
  kernel = RankedKernel(aligned_rows());
  std::vector<KnownSize> sizes;
  for (std::int64_t m = 1000; m <= 1'000'000; m *= 2) {
    sizes.push_back({std::to_string(m), {m}});
    for (std::size_t c = 0; c < 2; ++c) {
      configs[c].timings.push_back(
          {.size = sizes.size() - 1, .ns = 100 * static_cast<double>(m), .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  const double same_code = std::log(expected(*model, 0, {128'000}).ns);
  const double other_code = std::log(expected(*model, 0, {128'001}).ns);
  EXPECT_NEAR(other_code, same_code, 0.05) << "it is the same configuration";
  EXPECT_GT(expected(*model, 0, {128'001}).error, expected(*model, 0, {128'000}).error)
      << "yet it may be slower";
}

/// Configurations that were timed at most sizes, but the last one far away only.
TEST_F(CostModelTest, ConfigurationsWithLikeParametersTellOfEachOther) {
  store::KernelRecord record = tiled_rows();
  record.space_text = R"json({
    "format": "space/1", "family": "rows",
    "problem": { "dims": ["M"], "flops": "1000*M", "bytes": "4*M" },
    "kernels": { "tiled": {
      "entry": "rows<${TILE},${UNROLL}>",
      "parameters": { "TILE": {"values": [32, 64], "default": 32},
                      "UNROLL": {"values": [1, 2, 4, 8, 16, 32], "default": 1} },
      "launch": { "grid": ["ceil_div(M, TILE)"], "block": [128] } } } })json";
  kernel = RankedKernel(record);
  configs.clear();
  for (const int unroll : {1, 2, 4, 8, 16, 32}) {
    const std::string json = R"({"TILE":32,"UNROLL":)" + std::to_string(unroll) + "}";
    configs.push_back({.json = json, .config = space::config_from_json(kernel.definition(), json)});
  }
  std::vector<KnownSize> sizes;
  for (std::int64_t m = 1000; m <= 1'000'000; m *= 2) {
    sizes.push_back({std::to_string(m), {m}});
    for (std::size_t c = 0; c < configs.size(); ++c) {
      const bool is_last = c + 1 == configs.size();
      if (is_last && m > 1000) continue;
      const double slower = c >= 4 ? 2 : 1;  // beyond 8 it is too much
      configs[c].timings.push_back({.size = sizes.size() - 1,
                                    .ns = 5000 + slower * 100 * static_cast<double>(m),
                                    .registers = 32});
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  const ExpectedTime hardly_unrolled = expected(*model, 1, {256'000});
  const ExpectedTime unrolled = expected(*model, 5, {256'000});
  EXPECT_GT(unrolled.ns, 1.5 * hardly_unrolled.ns) << "like its neighbour";
  EXPECT_GT(unrolled.error, 1.5 * hardly_unrolled.error) << "though none was timed near by";
  EXPECT_GT(unrolled.cautious_ns() / unrolled.ns,
            hardly_unrolled.cautious_ns() / hardly_unrolled.ns);
}

TEST_F(CostModelTest, TimesOfItsOwnKindOfProblemComeFirst) {
  store::KernelRecord record = tiled_rows();
  record.space_text = R"json({
    "format": "space/1", "family": "rows",
    "problem": { "dims": ["M", {"name": "HALF", "default": 0, "values": [0, 1]}],
                 "flops": "1000*M", "bytes": "4*M" },
    "kernels": { "tiled": {
      "entry": "rows<${TILE}>",
      "parameters": { "TILE": {"values": [32, 256], "default": 32} },
      "launch": { "grid": ["ceil_div(M, TILE)"], "block": [128] } } } })json";
  kernel = RankedKernel(record);
  std::vector<KnownSize> sizes;
  for (std::int64_t m = 1000; m <= 1'000'000; m += 9000) {
    for (const std::int64_t half : {0, 1}) {
      sizes.push_back({"", {m, half}});
      for (std::size_t c = 0; c < 2; ++c) {
        configs[c].timings.push_back({.size = sizes.size() - 1,
                                      .ns = 100 * static_cast<double>(m) / (half == 1 ? 2 : 1),
                                      .registers = 32});
      }
    }
  }
  const auto model = CostModel::fit(kernel, device, sizes, configs);
  ASSERT_NE(model, nullptr);
  EXPECT_NEAR(expected(*model, 0, {500'000, 0}).ns / 50'000'000, 1, 0.05);
  EXPECT_NEAR(expected(*model, 0, {500'000, 1}).ns / 25'000'000, 1, 0.05);
}

TEST(TriangleTest, SolvesForTheColumnsThatItsMatrixWasMadeOf) {
  const std::vector<std::vector<double>> lower = {
      {2}, {1, 3}, {-1, 0.5, 1}, {4, 2, 1, 5}, {0.5, 0, 3, -2, 7}};
  const Triangle triangle(lower.size(), [&](std::size_t i, std::size_t j) {
    return dot(std::span(lower[i]).first(j + 1), lower[j]);
  });
  const std::vector<double> wanted = {1, -2, 3, -4, 5};
  std::vector<double> column;
  for (const std::vector<double>& row : lower) {
    column.push_back(dot(row, std::span(wanted).first(row.size())));
  }
  const std::vector<double> solved = triangle.solve(column);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(solved[i], wanted[i], 1e-12);
}

}  // namespace
}  // namespace tuner::select
