// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/suite.hpp"

#include "sample.hpp"
#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

namespace tuner::family {
namespace {

using sample::altered;
using sample::usage_error;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kSuite = R"json({
  "format": "suite/1",
  "family": "axpy",
  "doc": "sizes of axpy",
  "groups": [
    {"name": "small", "doc": "fit a cache", "sizes": [[16], {"N": 32}]},
    {"name": "large", "sizes": [[32], [1000000]]}
  ]
})json";

Family family() {
  return sample::parse(sample::kDocument);
}

Suite parse(std::string_view text) {
  return parse_suite(text, "s.json", family());
}

std::string error_of_suite(std::string_view from, std::string_view to) {
  return usage_error([&] { return parse(altered(kSuite, from, to)); });
}

TEST(Suite, HasGroupsOfSizes) {
  const Suite suite = parse(kSuite);
  ASSERT_EQ(suite.groups.size(), 2U);
  EXPECT_EQ(suite.groups[0].doc, "fit a cache");
  EXPECT_THAT(suite.sizes("small"), ElementsAre(space::Size{16}, space::Size{32}));
  EXPECT_THAT(suite.sizes(""), ElementsAre(space::Size{16}, space::Size{32}, space::Size{1000000}))
      << "each once";
  EXPECT_EQ(usage_error([&] { return suite.sizes("lage"); }),
            "s.json: no group is named \"lage\" (did you mean 'large'?)");
}

TEST(Suite, MistakesNameTheirPlace) {
  EXPECT_EQ(error_of_suite("suite/1", "suite/2"),
            "s.json: format: is \"suite/2\", but a suite is of format \"suite/1\"");
  EXPECT_EQ(error_of_suite("\"axpy\"", "\"gemm\""),
            "s.json: family: these are sizes of 'gemm', but axpy.json is the family 'axpy'");
  EXPECT_EQ(error_of_suite("\"groups\"", "\"group\""),
            "s.json: unknown key \"group\" (did you mean 'groups'?)");
  EXPECT_EQ(error_of_suite("\"sizes\": [[16]", "\"size\": [[16]"),
            "s.json: groups[0]: unknown key \"size\" (did you mean 'sizes'?)");
  EXPECT_EQ(error_of_suite("[16]", "[16, 16]"),
            "s.json: groups[0].sizes[0]: must have exactly 1 number (N), has 2");
  EXPECT_EQ(error_of_suite(R"({"N": 32})", R"({"n": 32})"),
            "s.json: groups[0].sizes[1]: no dimension is named \"n\" (did you mean 'N'?)");
  EXPECT_EQ(error_of_suite("\"large\"", "\"small\""),
            "s.json: groups[1]: the group 'small' appears twice");
  EXPECT_EQ(error_of_suite("[[32], [1000000]]", "[]"),
            "s.json: groups[1].sizes: must have at least 1 element, has 0");
}

TEST(Suite, GroupsMayBeOfOtherFamilies) {
  const std::string text =
      altered(kSuite, R"({"name": "large")", R"({"name": "large", "family": "gemm")");
  EXPECT_THAT(parse(text).sizes(""), ElementsAre(space::Size{16}, space::Size{32}));
  EXPECT_EQ(usage_error([&] { return parse(text).sizes("large"); }),
            "s.json: no group is named \"large\" (known: small)");
  const std::string other = altered(altered(kSuite, "\"axpy\"", "\"gemm\""), R"({"name": "small")",
                                    R"({"name": "small", "family": "axpy")");
  EXPECT_THAT(parse(other).sizes(""), ElementsAre(space::Size{16}, space::Size{32}));
}

TEST(SuiteSizes, AreThoseOfAFileOrOfAGroupOfIt) {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "s.json").string();
  write_file(path, kSuite);
  EXPECT_THAT(suite_sizes(path + ":large", family()),
              ElementsAre(space::Size{32}, space::Size{1000000}));
  EXPECT_EQ(suite_sizes(path, family()).size(), 3U);
  EXPECT_THAT(usage_error([&] { return suite_sizes(path + ":huge", family()); }),
              HasSubstr("no group is named \"huge\""));
  EXPECT_THAT(usage_error([&] { return suite_sizes(path + ":", family()); }),
              HasSubstr("no group is named after the colon"));
  EXPECT_THROW(static_cast<void>(suite_sizes("nosuch.json:x", family())), Error);
}

TEST(SuiteFamilies, AreThoseOfTheGroupsThatAreNamed) {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "s.json").string();
  write_file(path, altered(kSuite, R"({"name": "large")", R"({"name": "large", "family": "gemm")"));
  EXPECT_THAT(suite_families(path), ElementsAre("axpy", "gemm"));
  EXPECT_THAT(suite_families(path + ":large"), ElementsAre("gemm"));
  EXPECT_THAT(usage_error([&] { return suite_families(path + ":larg"); }),
              HasSubstr("no group is named \"larg\" (did you mean 'large'?)"));
  EXPECT_TRUE(suite_recording(path).is_null());
}

}  // namespace
}  // namespace tuner::family
