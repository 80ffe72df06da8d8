// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/definition.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tuner::space {
namespace {

SpaceDefinition defined(const std::string& kernel) {
  return parse_space_definition(parse_json(kernel, "f.json"), {"M", "N"}, "f.json: kernels.k");
}

std::string error(const std::string& kernel) {
  try {
    (void)defined(kernel);
  } catch (const Error& caught) {
    EXPECT_EQ(caught.code(), ErrorCode::usage);
    return caught.what();
  }
  return "accepted";
}

/// The message about one parameter P, without the place it begins with.
std::string parameter_error(const std::string& parameter) {
  const std::string message = error(fmt::format(R"({{"parameters": {{"P": {}}}}})", parameter));
  const std::string place = "f.json: kernels.k.parameters.P";
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

std::vector<std::string> texts(const Parameter& parameter) {
  std::vector<std::string> result;
  for (const ParameterValue& value : parameter.values) result.push_back(value.text);
  return result;
}

TEST(ParseSpaceDefinition, ReadsAllFormsOfValues) {
  const SpaceDefinition definition = defined(R"({"source": "ignored", "parameters": {
    "A": {"values": [4, 1, 2], "default": 2, "doc": "about A"},
    "B": {"range": [-4, 5, 4], "default": 0, "kind": "define"},
    "C": {"pow2": [8, 64], "default": 64, "kind": "launch"},
    "D": {"values": [false, true], "default": true},
    "E": {"values": ["none", "xor"], "default": "xor", "when": "A == 4"}}})");
  const auto& p = definition.parameters;
  ASSERT_EQ(p.size(), 5U);
  EXPECT_EQ(texts(p[0]), (std::vector<std::string>{"4", "1", "2"}));
  EXPECT_EQ(p[0].default_index, 2U);
  EXPECT_EQ(p[0].doc, "about A");
  EXPECT_EQ(p[0].kind, ParameterKind::template_argument);
  EXPECT_EQ(texts(p[1]), (std::vector<std::string>{"-4", "0", "4"}));
  EXPECT_EQ(p[1].kind, ParameterKind::define);
  EXPECT_EQ(texts(p[2]), (std::vector<std::string>{"8", "16", "32", "64"}));
  EXPECT_EQ(p[2].kind, ParameterKind::launch);
  EXPECT_EQ(texts(p[3]), (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(p[3].values[1].number, 1);
  EXPECT_EQ(p[3].value_kind, ValueKind::number);
  EXPECT_EQ(texts(p[4]), (std::vector<std::string>{"none", "xor"}));
  EXPECT_EQ(p[4].value_kind, ValueKind::word);
  ASSERT_TRUE(p[4].when);
  EXPECT_EQ(p[4].when->text(), "A == 4");
}

TEST(ParseSpaceDefinition, GivesSlotsInTheOrderOfTheScope) {
  const SpaceDefinition definition = defined(R"({"parameters": {"A": {"values": [1], "default": 1}},
    "derived": {"D": "A * 2", "E": "D + M"},
    "constraints": [{"expr": "E <= dev.warp_size", "why": "small"}]})");
  const std::size_t family = family_scope({"M", "N"}).size();
  EXPECT_EQ(definition.parameters[0].slot, family);
  EXPECT_EQ(definition.derived[0].slot, family + 1);
  EXPECT_EQ(definition.derived[1].slot, family + 2);
  EXPECT_EQ(definition.constraints[0].why, "small");
  EXPECT_EQ(definition.parameter_index("A"), 0U);
  EXPECT_EQ(family_scope({"M", "N"}).find("N")->slot + 1, family);
}

TEST(ParseSpaceDefinition, PointsIntoWrongExpressions) {
  EXPECT_EQ(error(R"({"parameters": {"BN": {"values": [1, 2], "default": 1}}, "constraints": [
      {"expr": "BN > 0", "why": "w"}, {"expr": "BN % 2 == 0 && BX % 2 == 0", "why": "w"}]})"),
            "f.json: kernels.k.constraints[1].expr: unknown name 'BX' (did you mean 'BN'?)\n"
            "    BN % 2 == 0 && BX % 2 == 0\n"
            "                   ^^");
}

TEST(ParseSpaceDefinition, DerivedValuesSeeOnlyWhatStandsBefore) {
  EXPECT_EQ(error(R"({"derived": {"A": "B + 1", "B": "1"}})"),
            "f.json: kernels.k.derived.A: 'B' is not known yet: only names declared before it can "
            "be used\n    B + 1\n    ^");
  EXPECT_EQ(error(R"({"derived": {"A": "A + 1"}})").substr(0, 45),
            "f.json: kernels.k.derived.A: 'A' is not known");
}

TEST(ParseSpaceDefinition, WhenSeesOnlyParametersThatStandBefore) {
  EXPECT_EQ(error(R"({"parameters": {"A": {"values": [1, 2], "default": 1, "when": "B > 1"},
                                     "B": {"values": [1, 2], "default": 1}}})"),
            "f.json: kernels.k.parameters.A.when: 'B' is not known yet: only names declared before "
            "it can be used\n    B > 1\n    ^");
}

TEST(ParseSpaceDefinition, RefusesWrongNames) {
  const auto named = [](const std::string& name) {
    return error(
        fmt::format(R"({{"parameters": {{"{}": {{"values": [1], "default": 1}}}}}})", name));
  };
  EXPECT_EQ(named("M"),
            "f.json: kernels.k.parameters.M: the name 'M' is already taken by a dimension of the "
            "problem");
  EXPECT_EQ(named("min"),
            "f.json: kernels.k.parameters.min: 'min' is a keyword of the expression language");
  EXPECT_EQ(named("1A"),
            "f.json: kernels.k.parameters.1A: '1A' is not a name: at most 64 letters, digits and "
            "underscores, not beginning with a digit");
  EXPECT_EQ(error(R"({"parameters": {"A": {"values": [1], "default": 1}}, "derived": {"A": "1"}})"),
            "f.json: kernels.k.derived.A: the name 'A' is already taken by a parameter");
}

TEST(ParseSpaceDefinition, RefusesWrongValues) {
  EXPECT_EQ(parameter_error(R"({"default": 1})"),
            ": needs exactly one of 'values', 'range' and 'pow2'");
  EXPECT_EQ(parameter_error(R"({"values": [1], "pow2": [1, 2], "default": 1})"),
            ": needs exactly one of 'values', 'range' and 'pow2'");
  EXPECT_EQ(parameter_error(R"({"values": [], "default": 1})"),
            ".values: must be a list of at least one value");
  EXPECT_EQ(parameter_error(R"({"values": [1, "a"], "default": 1})"),
            ".values[1]: numbers, booleans and words cannot be mixed in one list");
  EXPECT_EQ(parameter_error(R"({"values": [1, true], "default": 1})"),
            ".values[1]: numbers, booleans and words cannot be mixed in one list");
  EXPECT_EQ(parameter_error(R"({"values": [1, 2, 1], "default": 1})"),
            ".values[2]: the value 1 appears twice");
  EXPECT_EQ(parameter_error(R"({"values": [1.5], "default": 1})"),
            ".values[0]: a value is a whole number, true, false or a word, not 1.5");
  EXPECT_EQ(parameter_error(R"({"values": ["a-b"], "default": "a-b"})").substr(0, 28),
            ".values[0]: \"a-b\" is not a w");
  EXPECT_EQ(parameter_error(R"({"values": [9223372036854775808], "default": 1})"),
            ".values[0]: 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(parameter_error(R"({"range": [1, 4], "default": 1})"),
            ".range: must be [first, last, step]");
  EXPECT_EQ(parameter_error(R"({"range": [1, 4, 0], "default": 1})"),
            ".range: the step must be at least 1, not 0");
  EXPECT_EQ(parameter_error(R"({"range": [4, 1, 1], "default": 1})"),
            ".range: the first number, 4, is above the last, 1");
  EXPECT_EQ(parameter_error(R"({"range": [1, 65537, 1], "default": 1})"),
            ".range: more than 65536 values; take a larger step");
  EXPECT_EQ(parameter_error(R"({"pow2": [8, 48], "default": 8})"),
            ".pow2: 48 is not a power of two");
  EXPECT_EQ(parameter_error(R"({"pow2": [0, 8], "default": 8})"), ".pow2: 0 is not a power of two");
}

TEST(ParseSpaceDefinition, AcceptsTheExtremesOfRanges) {
  EXPECT_EQ(defined(R"({"parameters": {"P": {"range": [1, 65536, 1], "default": 1}}})")
                .parameters[0]
                .values.size(),
            65536U);
  const SpaceDefinition wide = defined(
      R"({"parameters": {"P": {"range": [-9223372036854775808, 9223372036854775807,
                                         9223372036854775807], "default": -1}}})");
  EXPECT_EQ(texts(wide.parameters[0]),
            (std::vector<std::string>{"-9223372036854775808", "-1", "9223372036854775806"}));
  EXPECT_EQ(defined(R"({"parameters": {"P": {"pow2": [1, 4611686018427387904], "default": 1}}})")
                .parameters[0]
                .values.size(),
            63U);
}

TEST(ParseSpaceDefinition, RefusesWrongDefaultsKindsAndKeys) {
  EXPECT_EQ(parameter_error(R"({"values": [1, 2]})"),
            ": 'default' is missing: one of its values, such as \"default\": 1");
  EXPECT_EQ(parameter_error(R"({"values": [64, 128], "default": 63})"),
            ".default: 63 is not one of the values (did you mean '64'?)");
  EXPECT_EQ(parameter_error(R"({"values": [1, 2], "default": "1"})").substr(0, 29),
            ".default: \"1\" is not one of t");
  EXPECT_EQ(parameter_error(R"({"values": [1], "default": 1, "kind": "defines"})"),
            ".kind: unknown kind 'defines' (did you mean 'define'?)");
  EXPECT_EQ(parameter_error(R"({"values": [1], "defualt": 1})"),
            ": unknown key 'defualt' (did you mean 'default'?)");
  EXPECT_EQ(parameter_error(R"({"values": [1], "default": 1, "doc": 5})"),
            ".doc: must be a string, not number");
  EXPECT_EQ(parameter_error("[1, 2]"),
            ": must be an object (keys: values, range, pow2, default, default_at, doc, when, kind, "
            "option), not array");
  EXPECT_EQ(
      parameter_error(R"({"values": ["a", "b"], "default": "a", "default_at": "dev.sm_count"})"),
      ".default_at: is only for numbers");
  EXPECT_EQ(parameter_error(R"({"values": [1, 2], "default": 1, "default_at": 2})"),
            ".default_at: must be a string with an expression, not number");
  EXPECT_EQ(parameter_error(
                R"({"values": [1, 2], "default": 1, "when": "1 < 2", "default_at": "1 + 1"})"),
            ".default_at: is not for a parameter with 'when', which has one default");
}

TEST(ParseSpaceDefinition, ADefaultAtASizeKnowsNoParameters) {
  const std::string message = error(
      R"({"parameters": {"A": {"values": [1, 2], "default": 1},
                         "B": {"values": [1, 2], "default": 1, "default_at": "N > 1 ? A : 1"}}})");
  EXPECT_TRUE(message.starts_with("f.json: kernels.k.parameters.B.default_at: unknown name 'A'"))
      << message;
}

TEST(ParseSpaceDefinition, RefusesWrongConstraints) {
  const auto constraint = [](const std::string& json) {
    return error(fmt::format(R"({{"parameters": {{"L": {{"values": ["a"], "default": "a"}}}},
                                  "constraints": [{}]}})",
                             json));
  };
  EXPECT_EQ(constraint(R"({"expr": "1"})"), "f.json: kernels.k.constraints[0]: 'why' is missing");
  EXPECT_EQ(constraint(R"({"why": "w"})"), "f.json: kernels.k.constraints[0]: 'expr' is missing");
  EXPECT_EQ(
      constraint(R"({"expr": true, "why": "w"})"),
      "f.json: kernels.k.constraints[0].expr: must be a string with an expression, not boolean");
  EXPECT_EQ(constraint(R"({"exp": "1", "why": "w"})"),
            "f.json: kernels.k.constraints[0]: unknown key 'exp' (did you mean 'expr'?)");
  EXPECT_EQ(constraint(R"("1")"),
            "f.json: kernels.k.constraints[0]: must be an object (keys: expr, why), not string");
  EXPECT_EQ(constraint(R"({"expr": "L", "why": "w"})"),
            "f.json: kernels.k.constraints[0].expr: is a word, not a number: L");
  EXPECT_EQ(error(R"({"constraints": {}})"),
            "f.json: kernels.k.constraints: must be a list, not object");
  EXPECT_EQ(error(R"({"parameters": []})"),
            "f.json: kernels.k.parameters: must be an object, not array");
  EXPECT_EQ(error("[]"), "f.json: kernels.k: must be an object, not array");
}

TEST(ParseSpaceDefinition, RefusesTooManyParameters) {
  Json kernel;
  for (int i = 0; i < 65; ++i) {
    kernel["parameters"][fmt::format("P{}", i)] = {{"values", {1}}, {"default", 1}};
  }
  EXPECT_EQ(error(kernel.dump()),
            "f.json: kernels.k.parameters: 65 parameters; at most 64 are possible");
}

TEST(SpaceDefinition, SuggestsParameters) {
  const SpaceDefinition definition =
      defined(R"({"parameters": {"TILE_M": {"values": [1], "default": 1}}})");
  try {
    (void)definition.parameter_index("TILEM");
    FAIL();
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(), "unknown parameter 'TILEM' (did you mean 'TILE_M'?)");
  }
}

}  // namespace
}  // namespace tuner::space
