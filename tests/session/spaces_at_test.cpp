// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/spaces_at.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tuner::session {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const space::DeviceAttributes kDevice{.max_threads_per_block = 1024};

std::shared_ptr<const space::SpaceDefinition> tiles(const std::string& constraint) {
  return std::make_shared<const space::SpaceDefinition>(space::parse_space_definition(
      parse_json(
          R"({"parameters": {"TILE": {"values": [1, 2, 4, 8], "default": 1}}, "constraints": [{"expr": ")" +
              constraint + "\", \"why\": \"as large as the problem\"}]}",
          "test"),
      space::Dimensions{{.name = "N"}}, "test"));
}

TEST(SpacesAt, AreInTheOrderOfTheSizes) {
  std::vector<space::Size> sizes;
  for (std::int64_t n = 0; n < 40; ++n) sizes.push_back({1 + n % 4});
  const std::vector<space::Space> spaces = spaces_at(tiles("TILE <= N"), kDevice, sizes);
  ASSERT_EQ(spaces.size(), sizes.size());
  const std::vector<std::uint64_t> expected = {1, 2, 2, 3};
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(spaces[i].size(), expected[i % 4]) << i;
}

TEST(SpacesAt, FailWithTheReasonOfTheFirstSizeThatCannotBeEnumerated) {
  const auto definition = tiles("N / TILE >= 1");
  const std::vector<space::Size> sizes = {{8}, {8, 8}, {8, 8, 8}};
  EXPECT_THAT([&] { (void)spaces_at(definition, kDevice, sizes); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("one number for every dimension")));
}

TEST(SpacesAt, NoSizesHaveNoSpaces) {
  EXPECT_TRUE(spaces_at(tiles("TILE <= N"), kDevice, {}).empty());
}

}  // namespace
}  // namespace tuner::session
