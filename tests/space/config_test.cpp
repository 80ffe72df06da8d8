// SPDX-License-Identifier: Apache-2.0
// Configurations as text: the second half of tuner/space/space.hpp.
#include "support.hpp"
#include "tuner/space/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner::space {
namespace {

using testing::HasSubstr;

constexpr const char* kMixed = R"({"parameters": {
    "Z": {"values": [8, 64], "default": 64}, "LAYOUT": {"values": ["nn", "nt"], "default": "nn"},
    "A": {"values": [false, true], "default": false}, "ONE": {"values": [1], "default": 1}}})";

TEST(ConfigText, CanonicalJsonHasSortedKeysAndReadsBack) {
  const auto definition = parse(kMixed);
  const Config config{{0, 1, 1, 0}};
  const std::string json = canonical_json(*definition, config);
  EXPECT_EQ(json, R"({"A":true,"LAYOUT":"nt","ONE":1,"Z":8})");
  EXPECT_EQ(config_from_json(*definition, json), config);
}

TEST(ConfigText, MissingParametersTakeTheirDefaults) {
  const auto definition = parse(kMixed);
  EXPECT_EQ(config_from_json(*definition, R"({ "LAYOUT": "nt" })"), (Config{{1, 1, 0, 0}}));
  EXPECT_EQ(config_from_text(*definition, "Z=8"), (Config{{0, 0, 0, 0}}));
  EXPECT_EQ(config_from_text(*definition, ""), (Config{{1, 0, 0, 0}}));
}

TEST(ConfigText, DisplayLeavesSingleValuesOutAndReadsBack) {
  const auto definition = parse(kMixed);
  const Config config{{0, 1, 1, 0}};
  EXPECT_EQ(display(*definition, config), "Z=8 LAYOUT=nt A=true");
  EXPECT_EQ(config_from_text(*definition, display(*definition, config)), config);
  EXPECT_EQ(config_from_text(*definition, " Z=8, LAYOUT=nt,A=true"), config);
}

TEST(ConfigText, RefusesWhatItDoesNotKnow) {
  const auto definition = parse(kMixed);
  EXPECT_EQ(error([&] { (void)config_from_text(*definition, "Z=65"); }),
            "parameter Z has no value '65' (known: 8, 64)");
  EXPECT_EQ(error([&] { (void)config_from_text(*definition, "LAYUOT=nt"); }),
            "unknown parameter 'LAYUOT' (did you mean 'LAYOUT'?)");
  EXPECT_EQ(error([&] { (void)config_from_text(*definition, "Z"); }),
            "'Z' is not of the form PARAMETER=VALUE, as in Z=64");
  EXPECT_EQ(error([&] { (void)config_from_text(*definition, "Z=8,Z=64"); }),
            "parameter Z is given twice");
  EXPECT_EQ(error([&] { (void)config_from_json(*definition, "[1]"); }),
            "configuration: must be a JSON object such as {\"BM\":64}");
  EXPECT_EQ(error([&] { (void)config_from_json(*definition, R"({"Z": 8.5})"); }),
            "parameter Z has no value '8.5' (known: 8, 64)");
}

TEST(RestrictParameter, KeepsOnlyTheListedValues) {
  const auto definition = parse(kTiles);
  const std::vector<std::string> values = {"256", "64"};
  restrict_parameter(*definition, "BM", values);
  EXPECT_EQ(definition->parameters[0].values[0].text, "64");
  EXPECT_EQ(definition->parameters[0].values[1].text, "256");
  EXPECT_EQ(definition->parameters[0].default_index, 0U);
  const std::vector<std::string> with_default = {"8", "16"};
  restrict_parameter(*definition, "BK", with_default);
  EXPECT_EQ(definition->parameters[2].default_index, 1U);

  const Space whole = make_space(kTiles);
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < whole.size(); ++i) {
    const Config config = whole.at(i);
    const std::uint32_t bm = config.choice[0];
    if ((bm == 1 || bm == 3) && config.choice[2] <= 1) ++expected;
  }
  EXPECT_EQ(Space(definition, h200(), {}).size(), expected);
}

TEST(RestrictParameter, RefusesUnknownNamesAndValues) {
  const auto definition = parse(kMixed);
  const std::vector<std::string> values = {"9"};
  EXPECT_EQ(error([&] { restrict_parameter(*definition, "Z", values); }),
            "parameter Z has no value '9' (known: 8, 64)");
  EXPECT_EQ(error([&] { restrict_parameter(*definition, "Z", {}); }),
            "parameter Z needs at least one value");
  EXPECT_THAT(error([&] { restrict_parameter(*definition, "Q", values); }),
              HasSubstr("unknown parameter 'Q'"));
}

}  // namespace
}  // namespace tuner::space
