// SPDX-License-Identifier: Apache-2.0
// What the files in spaces/ promise.
#include "tuner/family/candidate.hpp"
#include "tuner/family/suite.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
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

TEST(GemmSpace, LoadsAndItsDefaultsAreValidEverywhere) {
  const Family family = load_family(kSpaceFile);
  for (const Kernel& kernel : family.kernels) {
    const space::Size size = size_of(family, kernel.name == "gemm_skinny" ? "8,96,96" : "96,96,96");
    for (const std::string& device : space::device_profile_names()) {
      const space::DeviceAttributes attributes = space::device_profile(device).value().attributes;
      if (!kernel.tensor_maps.empty() && attributes.compute_capability < 90) continue;
      EXPECT_NO_THROW(check_default(kernel, attributes, size)) << kernel.name << " on " << device;
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

std::vector<space::Size> parsed(const std::vector<std::string>& texts, const Family& family) {
  std::vector<space::Size> sizes;
  for (const std::string& text : texts) sizes.push_back(size_of(family, text));
  return sizes;
}

/// Sizes of a family in all of its types, products in all layouts and short along each extent.
std::vector<space::Size> varied_sizes(const Family& family) {
  std::vector<std::string> texts;
  for (const space::Size& size : family.problem.sizes.at("default")) {
    texts.push_back(space::canonical_size(size, family.problem.dims));
  }
  if (family.name.starts_with("gemm")) {
    texts.insert(texts.end(), {"1023,1025,1027", "4,1024,1024", "16,4096,4096", "4096,8,4096"});
  }
  for (const char* const layout : {"TRANS_A", "TRANS_B"}) {
    if (!family.problem.dims.find(layout)) continue;
    for (std::size_t i = texts.size(); i-- > 0;) {
      if (texts[i].find(layout) == std::string::npos) {
        texts.push_back(fmt::format("{},{}=1", texts[i], layout));
      }
    }
  }
  const auto types = family.problem.dims.find("TYPE");
  if (!types) return parsed(texts, family);
  std::vector<std::string> typed;
  for (const std::string& text : texts) {
    for (const std::string& type : family.problem.dims[*types].value_names) {
      if (text.find("TYPE=") == std::string::npos) {
        typed.push_back(fmt::format("{},TYPE={}", text, type));
      }
    }
  }
  return parsed(typed, family);
}

/// Where the default is valid on one card, it is on every card that has any configuration.
TEST(EverySpace, HasADefaultForEachCardThatHasConfigurations) {
  for (const std::filesystem::path& file : space_files()) {
    const Family family = load_family(file);
    for (const space::Size& size : varied_sizes(family)) {
      for (const Kernel& kernel : family.kernels) {
        std::set<std::string> valid, invalid;
        for (const std::string& device : space::device_profile_names()) {
          const auto attributes = space::device_profile(device).value().attributes;
          const space::BoundDefinition bound(kernel.space, attributes, size);
          (bound.violation(bound.default_config()) ? invalid : valid).insert(device);
        }
        if (valid.empty()) continue;
        for (const std::string& device : invalid) {
          const space::Space space = space_of(kernel, device, size);
          EXPECT_EQ(space.size(), 0U)
              << kernel.name << " at " << space::display(size, family.problem.dims) << " on "
              << device << ": " << space.violation(space.default_config())->message;
        }
      }
    }
  }
}

/// Figures of an H200 are relative to these.
TEST(EverySpace, HasItsPlainDefaultsOnAnH200) {
  const space::DeviceAttributes h200 = space::device_profile("h200").value().attributes;
  for (const std::filesystem::path& file : space_files()) {
    const Family family = load_family(file);
    for (const space::Size& size : varied_sizes(family)) {
      for (const Kernel& kernel : family.kernels) {
        space::Config plain;
        for (const space::Parameter& each : kernel.space->parameters) {
          plain.choice.push_back(static_cast<std::uint32_t>(each.default_index));
        }
        EXPECT_EQ(space::BoundDefinition(kernel.space, h200, size).default_config(), plain)
            << kernel.name << " at " << space::display(size, family.problem.dims);
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
