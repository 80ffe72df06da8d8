// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/enumeration.hpp"

#include "support.hpp"
#include "tuner/space/shared_diagrams.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tuner::space {
namespace {

TEST(SharedDiagrams, AreNotMadeAgainForSizesThatOnlyLimitOrSelect) {
  Json kernel = parse_json(kTiles, "test");
  const auto constrain = [&](const char* expression) {
    kernel["constraints"].push_back({{"expr", expression}, {"why", "test"}});
  };
  constrain("BM <= N");
  constrain("N % 4 == 0 or VEC == 1");
  const auto definition = parse(kernel.dump(), {"N"});
  SharedDiagrams shared;
  const auto count = [&](std::int64_t n) {
    return Space(definition, h200(), std::vector{n}, shared).size();
  };
  EXPECT_EQ(count(4096), 7600U);
  const std::size_t of_one = shared.size();
  for (const std::int64_t n : {32, 64, 128, 1000, 1024, 8192}) EXPECT_GT(count(n), 0U) << n;
  EXPECT_EQ(shared.size(), of_one);
  EXPECT_LT(count(64), count(128));
  EXPECT_LT(count(1023), count(1024));
  EXPECT_GT(shared.size(), of_one) << "where N % 4 is not 0, VEC is 1";
}

/// Enumerates a kernel whose parameters are all tied together.
Diagram enumerate_all(const Json& kernel, EnumerationLimits limits = {}) {
  const auto definition = parse(kernel.dump());
  const Rules rules(*definition, ExpressionValues(definition->scope.size()));
  const std::vector<Component> all = components(rules, definition->constraints.size());
  EXPECT_EQ(all.size(), 1U);
  return enumerate(rules, all.front(), limits);
}

/// `count` parameters from 1 to `most`, tied by one constraint.
Json tied(int count, int most, const std::string& constraint) {
  Json kernel;
  for (int i = 0; i < count; ++i) {
    kernel["parameters"][fmt::format("P{}", i)] = {{"range", {1, most, 1}}, {"default", 1}};
  }
  kernel["constraints"] = {{{"expr", constraint}, {"why", "w"}}};
  return kernel;
}

TEST(Enumeration, KeepsEqualSubtreesOnce) {
  // All that matters of what is bound is its sum.
  const Diagram diagram = enumerate_all(tied(6, 8, "P0 + P1 + P2 + P3 + P4 + P5 <= 30"));
  EXPECT_EQ(diagram.size(), 191122U);
  EXPECT_LT(diagram.edge_count(), 1200U);
}

TEST(Enumeration, RejectsEarlyWhatCannotBeCompleted) {
  // One of 16^6 combinations. Bounds leave 16 choices to try for each parameter, each with at most
  // 15 operations.
  const EnumerationLimits limits{.operations = 6 * 16 * 16};
  EXPECT_EQ(enumerate_all(tied(6, 16, "P0 * P1 * P2 * P3 * P4 * P5 >= 16777216"), limits).size(),
            1U);
  EXPECT_EQ(enumerate_all(tied(6, 16, "P0 + P1 + P2 + P3 + P4 + P5 < 7"), limits).size(), 1U);
  EXPECT_EQ(enumerate_all(tied(6, 16, "95 < P0 + P1 + P2 + P3 + P4 + P5 < 200"), limits).size(),
            1U);
}

TEST(Enumeration, RefusesToSearchForever) {
  EXPECT_EQ(
      error([] { (void)enumerate_all(tied(3, 20, "P0 + P1 < P2"), {.operations = 50}); }),
      "the space is too large: the constraints tie P0, P1, P2 together, and finding its valid "
      "combinations takes too long. Give these parameters fewer values or constrain them more");
}

TEST(Enumeration, RefusesToKeepTooMuch) {
  EXPECT_EQ(error([] { (void)enumerate_all(tied(3, 20, "P0 + P1 < P2"), {.edges = 50}); }),
            "the space is too large: the constraints tie P0, P1, P2 together, and its valid "
            "combinations need too much memory. Give these parameters fewer values "
            "or constrain them more");
}

}  // namespace
}  // namespace tuner::space
