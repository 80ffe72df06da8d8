// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/json.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace tuner {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_json(text, "file.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(ParseJson, KeepsTheOrderOfKeysAndAllowsComments) {
  const Json parsed = parse_json("{ /* first */ \"b\": 1, // second\n \"a\": 2 }", "file.json");
  EXPECT_EQ(parsed.dump(), R"({"b":1,"a":2})");
}

TEST(ParseJson, SaysWhereASyntaxErrorIs) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\" 2\n}"),
              AllOf(HasSubstr("file.json"), HasSubstr("line 3, column 7")));
}

TEST(ParseJson, RefusesAnEmptyFile) {
  EXPECT_THAT(error_of(" \n"), HasSubstr("the file is empty"));
}

TEST(ParseJson, RefusesATruncatedFile) {
  EXPECT_THAT(error_of("{\"a\": [1, 2"), HasSubstr("not valid JSON at line 1"));
}

TEST(ParseJson, RefusesAKeyThatStandsTwiceInOneObject) {
  EXPECT_THAT(error_of(R"({"a": 1, "b": {"x": 1, "x": 2}})"),
              HasSubstr(R"(the key "x" stands twice)"));
  EXPECT_EQ(error_of(R"({"a": {"x": 1}, "b": {"x": 1}})"), "no error");
}

TEST(ParseJson, RefusesDeepNestingWithoutExhaustingTheStack) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_THAT(error_of(deep), HasSubstr("nested deeper than 32"));
  EXPECT_EQ(error_of(std::string(32, '[') + std::string(32, ']')), "no error");
}

TEST(ParseJson, RefusesNumbersBeyondADouble) {
  EXPECT_THAT(error_of("[1e999]"), HasSubstr("not valid JSON"));
}

}  // namespace
}  // namespace tuner
