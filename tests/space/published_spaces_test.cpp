// SPDX-License-Identifier: Apache-2.0
// Spaces of published kernels, with the counts that were published or found by brute force.
#include "support.hpp"
#include "tuner/core/file.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace tuner {
namespace {

struct Published {
  const char* name;
  std::uint64_t cartesian;
  std::uint64_t valid;
};

void PrintTo(const Published& published, std::ostream* out) {
  *out << published.name;
}

class PublishedSpace : public testing::TestWithParam<Published> {};

TEST_P(PublishedSpace, HasItsPublishedCounts) {
  const Published& published = GetParam();
  const std::string path = fmt::format("{}/spaces/{}.json", TUNER_TEST_DATA, published.name);
  const Json file = parse_json(read_file(path, 1 << 20), path);
  const auto definition = std::make_shared<SpaceDefinition>(
      parse_space_definition(file["kernels"][published.name], {"N"}, path));
  const Space space(definition, h200(), {});

  EXPECT_EQ(space.size(), published.valid);
  const Waterfall waterfall = space.waterfall();
  EXPECT_EQ(waterfall.cartesian, published.cartesian);
  EXPECT_EQ(waterfall.collapsed, 0U);
  std::uint64_t left = waterfall.cartesian;
  for (const WaterfallStep& step : waterfall.steps) left -= step.removed;
  EXPECT_EQ(left, published.valid);

  EXPECT_FALSE(space.violation(space.default_config()));
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t position = random() % space.size();
    const Config config = space.at(position);
    EXPECT_FALSE(space.violation(config));
    EXPECT_EQ(space.position(config), position);
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllOfThem, PublishedSpace,
    testing::Values(
        Published{"atf_prl_16x16", 618475290624, 181440}, Published{"atf_prl_2x2", 36864, 1200},
        Published{"atf_prl_4x4", 9437184, 10800}, Published{"atf_prl_8x8", 2415919104, 48720},
        Published{"convolution_bat", 16896, 6768}, Published{"convolution_milo", 10240, 4362},
        Published{"dedispersion", 22272, 11130}, Published{"dedispersion_bat", 123863040, 16851135},
        Published{"expdist", 9732096, 294000}, Published{"gemm", 663552, 116928},
        Published{"gemm_bat", 20736, 10312}, Published{"gemm_kt", 82944, 17956},
        Published{"hotspot", 22200000, 349853}, Published{"hotspot_milo_t1", 4440000, 82984},
        Published{"ktt_coulomb2d", 16128, 14784}, Published{"md5hash_bat", 165888, 165888},
        Published{"microhh", 1166400, 138600}, Published{"nbody_bat", 3136, 1568},
        Published{"pnpoly_bat", 4092, 4092}, Published{"triad_bat", 7680, 4320}),
    [](const auto& suite) { return std::string(suite.param.name); });

}  // namespace
}  // namespace tuner
