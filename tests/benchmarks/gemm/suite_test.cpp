// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/shape.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tuner::gemm_benchmark {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

std::string suite(const std::string& groups) {
  return R"({"format": "suite/1", "family": "gemm", "doc": "d", "groups": [)" + groups + "]}";
}

std::vector<SuiteShape> shipped() {
  return read_suite(TUNER_SOURCE_DIR "/spaces/suites/fp32.json");
}

TEST(Suite, HasGroupsOfListsAndObjects) {
  const std::string text = suite(R"({"name": "a", "doc": "d", "sizes": [[1, 2, 3]]},
      {"name": "b", "sizes": [{"M": 1, "N": 2, "K": 3, "BATCH": 4}]})");
  const std::vector<SuiteShape> all = parse_suite(text, "s.json", "");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].group, "a");
  EXPECT_EQ(display(all[0].shape), "1x2x3");
  EXPECT_EQ(display(all[1].shape), "1x2x3,BATCH=4");
  const std::vector<SuiteShape> one = parse_suite(text, "s.json", "b");
  ASSERT_THAT(one, SizeIs(1));
  EXPECT_EQ(one[0].group, "b");
}

TEST(Suite, SaysWhatIsWrongAndWhere) {
  const auto says = [](const std::string& text, const char* group, const char* what) {
    EXPECT_THAT([&] { static_cast<void>(parse_suite(text, "s.json", group)); },
                ThrowsMessage<Error>(HasSubstr(what)));
  };
  const std::string good = R"({"name": "large", "sizes": [[1, 2, 3]]})";
  says(suite(good), "larg", "s.json: there is no group 'larg' (did you mean 'large'?)");
  says(suite(R"({"name": "a", "sizes": [[1, 2]]})"), "", "groups[0].sizes[0]");
  says(suite(R"({"name": "a", "sizes": [{"M": 1, "N": 2}]})"), "", "sizes[0]: K is missing");
  says(suite(good + "," + good), "", "1x2x3 appears twice, the first time in 'large'");
  says(R"({"format": "suite/2", "family": "gemm", "groups": []})", "", "suite/1");
  says(R"({"format": "suite/1", "family": "copy", "groups": []})", "", "multiplies matrices only");
}

TEST(Suite, ShippedOneHasTheGroupsAndShapesThatItIsMadeFor) {
  const std::vector<SuiteShape> all = shipped();
  EXPECT_GE(all.size(), 60U);
  std::set<std::string> groups;
  std::set<std::string> shapes;
  for (const SuiteShape& each : all) {
    groups.insert(each.group);
    shapes.insert(display(each.shape));
  }
  EXPECT_EQ(groups, (std::set<std::string>{"batched", "deep_k", "layouts", "odd", "shallow_k",
                                           "skinny", "squares", "transformer"}));
  for (const int n : {128, 256, 512, 1000, 1024, 1536, 2048, 3000, 4096, 6144, 8192, 16384}) {
    EXPECT_TRUE(shapes.contains(fmt::format("{0}x{0}x{0}", n))) << n;
  }
  for (const char* layout : {"", ",TRANS_B=1", ",TRANS_A=1", ",TRANS_A=1,TRANS_B=1"}) {
    EXPECT_TRUE(shapes.contains(std::string("4096x4096x4096") + layout)) << layout;
  }
}

TEST(Suite, ShippedOneFitsIntoEightGibibytesAShape) {
  for (const SuiteShape& each : shipped()) {
    EXPECT_LE(operand_bytes(each.shape), std::int64_t{8} << 30) << display(each.shape);
  }
}

}  // namespace
}  // namespace tuner::gemm_benchmark
