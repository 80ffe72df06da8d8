// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/bound_definition.hpp"

#include "support.hpp"

#include <gmock/gmock.h>

namespace tuner::space {
namespace {

TEST(BoundDefinition, ContainsWhatTheSpaceEnumerates) {
  const Space space = make_space(kTiles);
  const BoundDefinition bound(parse(kTiles), h200(), {});
  std::uint64_t contained = 0;
  for (const Config& config : all_configs(bound.definition())) {
    EXPECT_EQ(bound.contains(config), space.position(config).has_value());
    if (bound.contains(config)) ++contained;
  }
  EXPECT_EQ(contained, space.size());
  EXPECT_FALSE(bound.contains(Config{{0}})) << "it has other parameters";
}

TEST(BoundDefinition, AnswersWhereASpaceIsTooLargeToBeEnumerated) {
  std::string values = "0";
  for (int i = 1; i < 2000; ++i) values += "," + std::to_string(i);
  const std::string parameter = R"({"values": [)" + values + R"(], "default": 1})";
  const std::string kernel =
      R"({"parameters": {"A": )" + parameter + R"(, "B": )" + parameter + R"(, "C": )" + parameter +
      R"(}, "constraints": [{"expr": "A*A + B*B != C*C", "why": "no right triangle"}]})";
  EXPECT_THAT(error([&] { return Space(parse(kernel), h200(), {}); }),
              testing::HasSubstr("the space is too large"));
  const BoundDefinition bound(parse(kernel), h200(), {});
  EXPECT_TRUE(bound.contains(bound.default_config()));
  EXPECT_FALSE(bound.contains(Config{{3, 4, 5}}));
}

TEST(BoundDefinition, HasTheDefaultsOfItsDeviceAndSize) {
  const auto definition = parse(R"({"parameters": {
      "STAGES": {"values": [2, 3, 4], "default": 4, "default_at": "dev.smem_per_sm // 32768 - N"},
      "PAD": {"values": [0, 1], "default": 1}}})",
                                {"N"});
  const auto stages = [&](const char* device, std::vector<std::int64_t> size) {
    const BoundDefinition bound(definition, device_profile(device)->attributes, size);
    const Config config = bound.default_config();
    EXPECT_EQ(config.choice.at(1), 1U);
    return definition->parameters[0].values[config.choice.at(0)].number;
  };
  EXPECT_EQ(stages("t4", {0}), 2);
  EXPECT_EQ(stages("rtx5090", {0}), 3);
  EXPECT_EQ(stages("rtx5090", {1}), 2);
  EXPECT_EQ(stages("h200", {0}), 4) << "7 is none of the values";
  EXPECT_EQ(stages("t4", {}), 4) << "no size is known";
}

}  // namespace
}  // namespace tuner::space
