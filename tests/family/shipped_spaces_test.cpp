// SPDX-License-Identifier: Apache-2.0
// What the files in spaces/ promise.
#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/suite.hpp"
#include "tuner/space/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tuner::family {
namespace {

using testing::ElementsAre;

const std::filesystem::path kSpaceFile =
    std::filesystem::path(TUNER_SOURCE_DIR) / "spaces" / "gemm.json";

space::Size size_of(const Family& family, std::string_view text) {
  return space::parse_size(text, family.problem.dims);
}

space::Space space_of(const Kernel& kernel, std::string_view device, const space::Size& size) {
  return {kernel.space, space::device_profile(device).value().attributes, size};
}

/// Cards whose shared memory does not hold what the default configuration takes; the kernel has
/// others there.
const std::set<std::pair<std::string, std::string>> kDefaultsTooLarge = {
    {"gemm_tiled", "t4"}, {"gemm_skinny", "t4"}, {"gemm_tma", "rtx5090"}};

TEST(GemmSpace, LoadsAndItsDefaultsAreValidWhereSharedMemoryHoldsThem) {
  const Family family = load_family(kSpaceFile);
  for (const Kernel& kernel : family.kernels) {
    const space::Size size = size_of(family, kernel.name == "gemm_skinny" ? "8,96,96" : "96,96,96");
    for (const std::string& device : space::device_profile_names()) {
      const space::DeviceAttributes attributes = space::device_profile(device).value().attributes;
      if (!kernel.tensor_maps.empty() && attributes.compute_capability < 90) continue;
      if (kDefaultsTooLarge.contains({kernel.name, device})) {
        EXPECT_THROW(check_default(kernel, attributes, size), Error)
            << kernel.name << " on " << device;
      } else {
        EXPECT_NO_THROW(check_default(kernel, attributes, size)) << kernel.name << " on " << device;
      }
    }
  }
}

std::vector<std::filesystem::path> space_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSpaceFile.parent_path())) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

TEST(EverySpace, DocumentsEveryKernelParameterAndConstraint) {
  for (const std::filesystem::path& file : space_files()) {
    for (const Kernel& kernel : load_family(file).kernels) {
      EXPECT_FALSE(kernel.doc.empty()) << kernel.name;
      for (const space::Parameter& each : kernel.space->parameters)
        EXPECT_FALSE(each.doc.empty()) << kernel.name << " " << each.name;
      for (const space::Constraint& each : kernel.space->constraints) {
        EXPECT_FALSE(each.why.empty()) << kernel.name << " " << each.expression.text();
      }
    }
  }
}

TEST(EverySpace, HasValidConfigurationsToBeTriedFirst) {
  const space::DeviceAttributes h200 = space::device_profile("h200").value().attributes;
  for (const std::filesystem::path& file : space_files()) {
    const Family family = load_family(file);
    if (family.name.starts_with("gemm")) continue;  // their kernels are for other sizes each
    const std::string suite = file.parent_path() / "suites" / file.filename();
    const std::vector<space::Size> sizes = suite_sizes(suite, family);
    for (const Kernel& kernel : family.kernels) {
      EXPECT_NO_THROW(check_default(kernel, h200, family.problem.sizes.at("default").back()))
          << kernel.name;
      for (const space::Config& config : kernel.try_first) {
        const auto is_valid_at = [&](const space::Size& size) {
          return space::Space(kernel.space, h200, size).position(config).has_value();
        };
        EXPECT_TRUE(std::ranges::any_of(sizes, is_valid_at))
            << kernel.name << " " << space::display(*kernel.space, config);
      }
    }
  }
}

TEST(GemmSpace, HasAsManyValidConfigurationsAsItsDocumentsSay) {
  const Family family = load_family(kSpaceFile);
  const space::Size size = size_of(family, "4096,4096,4096");
  // gemm_naive: BLOCK_X = 2^a, BLOCK_Y = 2^b with a + b <= 10: 1 + 2 + … + 11.
  EXPECT_EQ(space_of(family.kernel("gemm_naive"), "h200", size).size(), 66U);
  EXPECT_EQ(space_of(family.kernel("gemm_shared"), "h200", size).size(), 3831U);
  EXPECT_EQ(space_of(family.kernel("gemm_shared"), "cpu", size).size(), 3831U);
}

TEST(GemmSpace, ContainsTheTilesThatAreKnownToBeGood) {
  const Family family = load_family(kSpaceFile);
  const space::Space space =
      space_of(family.kernel("gemm_shared"), "h200", size_of(family, "4096,4096,4096"));
  for (const std::string tile :
       {"TILE_M=128,TILE_N=128,TILE_K=16", "TILE_M=64,TILE_N=64,TILE_K=16",
        "TILE_M=128,TILE_N=64,TILE_K=16", "TILE_M=256,TILE_N=128,TILE_K=16",
        "TILE_M=128,TILE_N=256,TILE_K=8", "TILE_M=128,TILE_N=128,TILE_K=32"}) {
    const space::Config config = space::config_from_text(
        space.definition(), tile + ",BLOCK_X=16,BLOCK_Y=16,UNROLL=8,PAD=4,VEC=4");
    EXPECT_TRUE(space.position(config)) << tile << ": " << space.violation(config)->message;
  }
}

TEST(GemmSpace, LaunchesWhatTheKernelExpects) {
  const Family family = load_family(kSpaceFile);
  const Kernel& kernel = family.kernel("gemm_shared");
  const space::Space space = space_of(kernel, "h200", size_of(family, "1000,500,77"));
  const space::Config config = space::config_from_text(
      space.definition(),
      "TILE_M=128,TILE_N=64,TILE_K=16,BLOCK_X=8,BLOCK_Y=16,UNROLL=8,PAD=4,VEC=2");
  EXPECT_EQ(compile_job(kernel, space, config).entries.front(),
            "gemm_shared<float,float,128,64,16,8,16,8,4,2>");
  const Geometry launch = geometry(kernel, 0, space.expression_values(config));
  EXPECT_THAT(launch.grid, ElementsAre(8U, 8U, 1U));  // ceil(500/64), ceil(1000/128)
  EXPECT_THAT(launch.block, ElementsAre(8U, 16U, 1U));
  EXPECT_EQ(launch.dynamic_shared_bytes, 4U * (128 * 20 + 16 * 68));
}

}  // namespace
}  // namespace tuner::family
