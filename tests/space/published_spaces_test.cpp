// SPDX-License-Identifier: Apache-2.0
#include "published.hpp"
#include "support.hpp"
#include "tuner/core/file.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace tuner::space {

void PrintTo(const PublishedSpace& published, std::ostream* out);
void PrintTo(const PublishedSpace& published, std::ostream* out) {
  *out << published.name;
}

namespace {

class PublishedSpaces : public testing::TestWithParam<PublishedSpace> {};

TEST_P(PublishedSpaces, HaveTheirPublishedCounts) {
  const PublishedSpace& published = GetParam();
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

INSTANTIATE_TEST_SUITE_P(AllOfThem, PublishedSpaces, testing::ValuesIn(kPublishedSpaces),
                         [](const auto& suite) { return std::string(suite.param.name); });

}  // namespace
}  // namespace tuner::space
