// SPDX-License-Identifier: Apache-2.0
// The first screen of a family whose sizes have several element types.
#include "tuner/report/family_section.hpp"

#include "sample_store.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tuner::report {
namespace {

Json typed_family() {
  const store::Store store = sample_store();
  const std::vector<KernelHistory> all = kernel_histories(store, "NVIDIA H200");
  for (const KernelHistory& kernel : all) {
    if (kernel.kernel == kTypedName)
      return family_section({&kernel, 1}, roofs_of(all, sample_subject(kTypedName).device));
  }
  return {};
}

TEST(FamilySection, EveryTypeHasItsOwnVerdict) {
  const Json family = typed_family();
  EXPECT_EQ(family.at("verdict"), Json({"3 types, 6 sizes, 1 kernel."}));
  EXPECT_EQ(family.at("types").at("rows"), Json::parse(R"([
    ["bf16", 2, 0.8, 0, 2, 0, 240, 0.224188, "rows 2"],
    ["f32", 2, 1.25, 2, 0, 0, 40, 0.597834, "rows 2"],
    ["f64", 2, null, null, null, null, 20, 0.298917, "rows 2"]])"));
  EXPECT_EQ(
      family.at("wins").at("rows"),
      Json::parse(R"([["bf16", "rows", 2, 2], ["f32", "rows", 2, 2], ["f64", "rows", 2, 2]])"));
}

TEST(FamilySection, ARateIsComparedWithTheRoofOfItsType) {
  const Json family = typed_family();
  EXPECT_EQ(family.at("roofs").at("gflops"),
            Json::parse(R"({"bf16":300e3,"f32":40e3,"f64":20e3})"));
  const Json& table = family.at("sizes");
  const auto column = [&](const char* key) {
    std::size_t at = 0;
    while (table.at("columns").at(at).at("key") != key) ++at;
    return at;
  };
  for (const Json& row : table.at("rows")) {
    const double roof = row.at(column("roof")).get<double>();
    // Of bf16 the library was the fastest that was measured.
    EXPECT_DOUBLE_EQ(roof, row.at(column("type")) == "bf16" ? 0.8 : 1);
  }
}

}  // namespace
}  // namespace tuner::report
