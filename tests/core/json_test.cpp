// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/json.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <string>

namespace tuner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

TEST(ParseJson, SaysWhatWasProbablyMeant) {
  EXPECT_THAT(error_of("{\"a\": 1 \"b\": 2}"), HasSubstr("; is the comma before it missing?"));
  EXPECT_THAT(error_of("[[1] [2]]"), HasSubstr("; is the comma before it missing?"));
  EXPECT_THAT(error_of("{'a': 1}"), HasSubstr("; names and texts have double quotes"));
  EXPECT_THAT(error_of("#include <cuda.h>"), HasSubstr("; a JSON file begins with { or ["));
  EXPECT_THAT(error_of("// of ours\n{\"a\": }"), Not(HasSubstr("begins with")));
}

TEST(ParseJson, RefusesAnEmptyFile) {
  EXPECT_THAT(error_of(" \n"), HasSubstr("the file is empty"));
}

TEST(ParseJson, RefusesATruncatedFile) {
  EXPECT_THAT(error_of("{\"a\": [1, 2"), HasSubstr("not valid JSON at line 1"));
}

TEST(ParseJson, RefusesAKeyThatStandsTwiceInOneObject) {
  EXPECT_THAT(error_of(R"({"a": 1, "b": {"x": 1, "x": 2}})"),
              HasSubstr(R"(the key "x" appears twice)"));
  EXPECT_EQ(error_of(R"({"a": {"x": 1}, "b": {"x": 1}})"), "no error");
}

TEST(ParseJson, RefusesDeepNestingWithoutExhaustingTheStack) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_THAT(error_of(deep), HasSubstr("nested deeper than 32"));
  EXPECT_EQ(error_of(std::string(32, '[') + "1" + std::string(32, ']')), "no error");
  EXPECT_THAT(error_of(std::string(33, '[') + std::string(33, ']')), HasSubstr("nested deeper"));
}

TEST(ParseJson, KeepsValuesOfEveryKindAndWhereTheyStand) {
  const std::string text =
      R"({"a":[1,-2,2.5,"x",null,true,[],{}],"b":{"c":{"d":[[1],[2]]},"e":0},"f":""})";
  EXPECT_EQ(parse_json(text, "file.json"), Json::parse(text));
  EXPECT_EQ(parse_json(text, "file.json").dump(), text);
  EXPECT_EQ(parse_json(" 7 ", "file.json"), Json(7));
}

TEST(ParseJson, TakesTimeInProportionToTheNumberOfKeys) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  const auto begin = std::chrono::steady_clock::now();
  const Json parsed = parse_json(text + "\"end\":2}", "file.json");
  // It takes a tenth of a second; comparing every key with all before it takes a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(parsed.size(), 200'001U);
}

TEST(ParseJson, PassesOverAByteOrderMark) {
  EXPECT_EQ(parse_json("\xef\xbb\xbf{\"a\": 1}", "file.json").dump(), R"({"a":1})");
}

TEST(ParseJson, RefusesNumbersBeyondADouble) {
  EXPECT_THAT(error_of("[1e999]"), HasSubstr("not valid JSON"));
}

}  // namespace
}  // namespace tuner
