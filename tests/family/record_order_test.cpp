// SPDX-License-Identifier: Apache-2.0
// Outputs whose elements may be in any order, or of which only some count.
#include "sample.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/check_promises.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace tuner::family {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A family with these arguments after N.
Family lists(std::string_view arguments, std::string_view reference = R"({"kernel": "plain"})") {
  constexpr std::string_view kText = R"json({{
    "format": "space/1", "family": "lists",
    "problem": {{"dims": ["N"], "flops": "N", "bytes": "4*N", "sizes": {{"default": [[12]]}}}},
    "arguments": [{{"name": "N", "type": "int", "value": "N"}},
                  {{"name": "in", "type": "float*", "count": "N"}},
                  {{"name": "starts", "type": "int*", "count": 4, "role": "output"}}, {}],
    "check": {{"reference": {}, "sizes": [[24]]}},
    "kernels": {{"plain": {{"source": "p.cu", "entry": "plain",
                            "launch": {{"grid": [1], "block": [1]}}}}}}
  }})json";
  return parse_family(fmt::format(kText, arguments, reference), "lists.json",
                      {{"plain", {.name = "p.cu", .text = "", .headers = {}}}});
}

/// A family with one output of N elements.
Family with_output(std::string_view keys) {
  return lists(fmt::format(
      R"({{"name": "out", "type": "int*", "count": "N", "role": "output", {}}})", keys));
}

std::optional<RecordLayout> layout(const Family& family, std::size_t argument = 3) {
  return record_layout(family.arguments, family.arguments[argument], family_values({12}));
}

std::string output_error(std::string_view keys) {
  return sample::usage_error([&] { return with_output(keys); });
}

TEST(RecordOrder, HasRecordsAndRows) {
  EXPECT_FALSE(layout(with_output(R"("initial": "zero")")));
  const auto any = layout(with_output(R"("order": "any")"));
  ASSERT_TRUE(any);
  EXPECT_TRUE(any->any_order);
  EXPECT_EQ(any->records, 12);
  EXPECT_EQ(any->row, 12);
  const auto rows = layout(with_output(R"("order": {"record": 2, "within": "N // 4"})"));
  EXPECT_EQ(rows->elements, 2);
  EXPECT_EQ(rows->records, 6);
  EXPECT_EQ(rows->row, 3);
  EXPECT_EQ(layout(with_output(R"("order": {"within": "starts"})"))->offsets, "starts");
}

TEST(RecordOrder, RowsHaveCounts) {
  const auto counted = layout(with_output(R"("order": "any", "valid": "starts")"));
  EXPECT_EQ(counted->row, 3) << "a row for each of 4";
  EXPECT_EQ(counted->valid->buffer, "starts");
  const auto some = layout(with_output(R"("valid": "N // 2")"));
  EXPECT_FALSE(some->any_order);
  EXPECT_EQ(some->valid_number, 6);
}

TEST(RecordOrder, OutputsMayHaveThatOfAnother) {
  const Family pairs = lists(
      R"({"name": "keys", "type": "int*", "count": "N", "role": "output", "order": "any"},
         {"name": "points", "type": "float*", "count": "3*N", "role": "output",
          "order": {"record": 3, "as": "keys"}})");
  EXPECT_EQ(layout(pairs, 4)->as, "keys");
  EXPECT_EQ(layout(pairs, 4)->elements, 3);
}

TEST(RecordOrder, MistakesAreNamed) {
  EXPECT_THAT(output_error(R"("order": "all")"),
              HasSubstr("arguments[3].order: unknown order \"all\"; it is \"any\", or an object"));
  EXPECT_THAT(output_error(R"("order": {"rows": 2})"), HasSubstr("unknown key \"rows\""));
  EXPECT_THAT(output_error(R"("order": {"record": 5})"),
              HasSubstr("argument out: its 24 elements are no records of 5 (at the size "));
  EXPECT_THAT(output_error(R"("order": {"record": 0})"), HasSubstr("it must be at least 1"));
  EXPECT_THAT(output_error(R"("order": {"as": "starts"})"),
              HasSubstr("must name an output with an \"order\" of its own, such as \"any\"; "
                        "'starts' is none"));
  EXPECT_THAT(output_error(R"("order": {"within": "in"})"),
              HasSubstr("'in' has elements of type 'float'; it must be a buffer of integers"));
  EXPECT_THAT(output_error(R"("order": "any", "valid": "out")"),
              HasSubstr("'out' decides which elements of this output are compared"));
  EXPECT_THAT(output_error(R"("order": {"record": 2, "within": 2}, "valid": "starts")"),
              HasSubstr("argument out: starts has 4 elements for 6 rows"));
  EXPECT_THAT(output_error(R"("order": {"record": 2}, "valid": "starts")"),
              HasSubstr("its 6 records are no 4 rows of equal length, one for each element of "
                        "starts; state \"within\""));
  const auto mistake = [](std::string_view arguments) {
    return sample::usage_error([&] { return lists(arguments); });
  };
  EXPECT_THAT(mistake(R"({"name": "x", "type": "int*", "count": "N", "order": "any"})"),
              HasSubstr("arguments[3].order: applies to outputs only"));
  EXPECT_THAT(
      mistake(R"({"name": "keys", "type": "int*", "count": "N", "role": "output", "order": "any"},
         {"name": "values", "type": "int*", "count": 3, "role": "output", "order": {"as": "keys"}})"),
      HasSubstr("argument values: it has 3 records, keys has 24"));
}

TEST(RecordOrder, IsNoneOfALibrary) {
  EXPECT_THAT(
      sample::usage_error([] {
        return lists(R"({"name": "C", "type": "float*", "count": "N*N", "role": "output",
                         "order": "any"})",
                     R"({"op": "geam", "m": "N", "n": "N", "a": "in", "c": "C"})");
      }),
      HasSubstr("'C' has an \"order\" or a \"valid\": these need a reference kernel or files"));
}

TEST(RecordOrder, IsPromised) {
  const std::vector<std::string> promises =
      check_promises(with_output(R"("order": "any", "valid": "starts")"));
  ASSERT_EQ(promises.size(), 5U) << "and the laws of its inputs";
  EXPECT_EQ(promises[2], "elements of out may be in any order");
  EXPECT_EQ(promises[3], "elements that do not count are not compared in out");
}

}  // namespace
}  // namespace tuner::family
