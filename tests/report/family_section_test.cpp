// SPDX-License-Identifier: Apache-2.0
// The first screen of a family whose sizes have several element types.
#include "tuner/report/family_section.hpp"

#include "sample_store.hpp"
#include "trial_database.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace tuner::report {
namespace {

Json typed_family() {
  const store::Store store = sample_store();
  const std::vector<KernelHistory> all = kernel_histories(store, "NVIDIA H200");
  for (const KernelHistory& kernel : all) {
    if (kernel.kernel == kTypedName)
      return family_section({&kernel, 1},
                            roofs_of(all, kernel.family, sample_subject(kTypedName).device));
  }
  return {};
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

TEST(FamilySection, RatesOfUnknownTypesAreNoRoofOfAnotherFamily) {
  const store::Store store = sample_store();
  std::vector<KernelHistory> all = kernel_histories(store, "NVIDIA H200");
  for (KernelHistory& kernel : all) kernel.types = {};
  const auto typed = std::ranges::find(all, kTypedName, &KernelHistory::kernel);
  const space::DeviceInfo device = sample_subject(kTypedName).device;
  const Roofs roofs = roofs_of(all, typed->family, device);
  EXPECT_NEAR(roofs.flops.at("bf16"), 300e3, 1e-6) << "the size names its type";
  EXPECT_NEAR(roofs.flops.at(""), 40e3, 1e-6);
  for (const KernelHistory& kernel : all) {
    if (kernel.family == typed->family) continue;
    EXPECT_LT(roofs_of(all, kernel.family, device).flops[""], 200e3) << kernel.family;
  }
}

TEST(FamilySection, ARateAboveTheMemorysIsNoRoof) {
  const store::Store store = sample_store();
  std::vector<KernelHistory> all = kernel_histories(store, "NVIDIA H200");
  const space::DeviceInfo device = sample_subject(kTypedName).device;
  constexpr double kNominal = 4800;  // bytes per nanosecond
  for (KernelHistory& kernel : all) {
    for (SizeHistory& size : kernel.sizes) {
      if (size.best) size.best->bytes = 0;
    }
  }
  const auto with_result = std::ranges::find_if(
      all.back().sizes, [](const SizeHistory& size) { return size.best.has_value(); });
  ASSERT_NE(with_result, all.back().sizes.end());
  with_result->best->library_ns.reset();
  const double ns = with_result->best->time.median_ns;
  with_result->best->bytes = 1.1 * kNominal * ns;
  EXPECT_EQ(roofs_of(all, all.back().family, device).bytes, 0);
  with_result->best->bytes = 0.9 * kNominal * ns;
  EXPECT_NEAR(roofs_of(all, all.back().family, device).bytes, 0.9 * kNominal, 1);
}

TEST(FamilySection, ARoofIsTheHigherRateOfBothMeasures) {
  Database database;
  database.begin_run("aaaaaaaa");
  const auto add = [&](const std::string& problem, double cold_ns, double back_to_back_ns) {
    store::FinalistRecord winner = Database::finalist("candidate", 1, cold_ns, 1, 1, 1);
    winner.sustained_ns = back_to_back_ns;
    database.add_trial(1, 0, cold_ns, Outcome::ok, 64, problem);
    database.add_final({winner}, 0, {}, problem);
  };
  const auto family = [&] { return database.document().at("families").at(0); };
  const auto flops = [&] {
    return family().at("roofs").at("gflops").begin().value().get<double>();
  };
  add("512,512,512", 100e3, 120e3);  // power limits it
  EXPECT_NEAR(flops(), 20e3, 1);
  EXPECT_EQ(family().at("roofs").at("gflops_from").begin().value(),
            "gemm_shared at 512×512×512, cold");
  add("1024,1024,1024", 90e3, 80e3);
  EXPECT_NEAR(flops(), 25e3, 1);
}

TEST(FamilySection, CommandsNameTheSpaceFileThatAnotherKernelOfTheFamilyTells) {
  Database database;
  const auto add = [&](const std::string& kernel, const std::string& command) {
    database.use_kernel(kernel);
    database.begin_run("aaaaaaa" + kernel, command);
    database.add_trial(1, 0, 100e3);
    database.add_final({Database::finalist("candidate", 1, 100e3, 1, 1, 1)}, 0);
  };
  const auto options = [&] {
    std::vector<std::string> all;
    const Json document = database.document();
    for (const Json& kernel : document.at("kernels")) all.push_back(kernel.at("options"));
    return all;
  };
  add("a", "tune --sizes recorded.json");
  EXPECT_THAT(options(), testing::ElementsAre("--kernel a --space FILE"));
  add("b", "tune --space 'my spaces/gemm.json'");
  EXPECT_THAT(options(), testing::Each(testing::EndsWith(" --space 'my spaces/gemm.json'")));
  add("c", "tune --space other.json");
  EXPECT_THAT(options(), testing::ElementsAre(testing::EndsWith(" FILE"),
                                              testing::EndsWith(" 'my spaces/gemm.json'"),
                                              testing::EndsWith(" other.json")));
}

TEST(FamilySection, ARateAboveTheRoofIsNoShareOfIt) {
  const store::Store store = sample_store();
  std::vector<KernelHistory> all = kernel_histories(store, "NVIDIA H200");
  const auto typed = std::ranges::find(all, kTypedName, &KernelHistory::kernel);
  const Roofs roofs = roofs_of(all, typed->family, sample_subject(kTypedName).device);
  const auto shares = [&] {
    std::vector<Json> found;
    const Json table = family_section({&*typed, 1}, roofs).at("sizes");
    const auto column = std::ranges::find(table.at("columns"), "roof",
                                          [](const Json& one) { return one.at("key"); });
    for (const Json& row : table.at("rows")) {
      found.push_back(row.at(static_cast<std::size_t>(column - table.at("columns").begin())));
    }
    return found;
  };
  EXPECT_TRUE(shares().front().is_number());
  typed->sizes.front().best->flops *= 1000;  // a wrong count
  EXPECT_TRUE(shares().front().is_null());
  EXPECT_TRUE(shares().back().is_number());
}

TEST(FamilySection, NoRoofIsAboveTheNominalRate) {
  const store::Store store = sample_store();
  std::vector<KernelHistory> all = kernel_histories(store, "NVIDIA H200");
  const space::DeviceInfo device = sample_subject(kTypedName).device;
  const auto typed = std::ranges::find(all, kTypedName, &KernelHistory::kernel);
  const double nominal = roofs_of(all, typed->family, device).nominal_flops.at("bf16");
  for (SizeHistory& size : typed->sizes) {
    if (typed->types.at(size.problem) == "bf16") size.best->flops *= 100;
  }
  EXPECT_EQ(roofs_of(all, typed->family, device).flops.at("bf16"), nominal);
}

TEST(FamilySection, ColumnsOfKernelsLeaveOutWhatAllNamesBeginWith) {
  const store::Store store = large_store(3, 1);  // gemm_tiled, gemm_tma, gemm_skinny
  const std::vector<KernelHistory> kernels = kernel_histories(store, "NVIDIA H200");
  const auto labels = [](std::span<const KernelHistory> some) {
    std::vector<std::string> found;
    const Json family = family_section(some, {});
    for (const Json& column : family.at("sizes").at("columns")) {
      if (column.at("key") == "kernel") found.push_back(column.at("label"));
    }
    return found;
  };
  EXPECT_THAT(labels(kernels), testing::ElementsAre("skinny", "tiled", "tma"));
  EXPECT_THAT(labels(std::span(kernels).first(1)), testing::ElementsAre("gemm_skinny"));
}

/// The library took another time in the run of each kernel.
TEST(FamilySection, TheBestKernelHasTheHighestRatioInItsRow) {
  const store::Store store = large_store(3, 1);
  std::vector<KernelHistory> kernels = kernel_histories(store, "NVIDIA H200");
  for (KernelHistory& kernel : kernels) {
    for (SizeHistory& size : kernel.sizes) {
      if (size.best) size.best->ratio_to_library = kernel.kernel == "gemm_tma" ? 1.5 : 1.2;
    }
  }
  const Json table = family_section(kernels, {}).at("sizes");
  const auto values = [&](const Json& row, std::string_view key) {
    std::vector<double> found;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.at("columns").at(i).at("key") == key && row.at(i).is_number())
        found.push_back(row.at(i).get<double>());
    }
    return found;
  };
  ASSERT_FALSE(table.at("rows").empty());
  for (const Json& row : table.at("rows")) {
    const double best = values(row, "ratio").at(0);
    for (const double ratio : values(row, "kernel")) EXPECT_LE(ratio, best);
    EXPECT_THAT(values(row, "kernel"), testing::Contains(best));
  }
}

TEST(FamilySection, TheHeaderHasTheClocksOfTheWinnersAndTheNoise) {
  Database database;
  database.begin_run("aaaaaaaa");
  const auto add = [&](const std::string& problem, double clock_mhz, double half_spread_ns) {
    store::FinalistRecord winner = Database::finalist("candidate", 1, 100e3, 1, 1, 1);
    winner.clock_mhz = clock_mhz;
    winner.time.min_ns = winner.time.q1_ns -= half_spread_ns;
    winner.time.q3_ns += half_spread_ns;
    database.add_trial(1, 0, 100e3, Outcome::ok, 64, problem);
    database.add_final({winner}, 0, {}, problem);
  };
  const auto fact = [&](const char* label) {
    const Json document = database.document();
    for (const Json& one : document.at("facts")) {
      if (one.at(0) == label) return one.at(1).get<std::string>();
    }
    return std::string();
  };
  add("512,512,512", 1980, 1e3);
  EXPECT_EQ(fact("Clock"), "1,980\u00a0MHz");
  add("1024,1024,1024", 1755, 3e3);
  add("2048,2048,2048", 1830, 2e3);
  EXPECT_EQ(fact("Clock"), "1,755 to 1,980\u00a0MHz");
  EXPECT_EQ(fact("Noise (quartiles)"), "4.0\u00a0%");
}

TEST(FamilySection, AnUnprovenKernelIsMarkedWhereItWins) {
  Database database;
  const auto tune = [&] {
    database.add_trial(1, 0, 100e3);
    database.add_final({Database::finalist("candidate", 1, 100e3, 1, 1, 1)}, 0);
    return database.document();
  };
  const auto state = [](const Json& document) {
    const Json& table = document.at("families").at(0).at("sizes");
    std::size_t at = 0;
    while (table.at("columns").at(at).at("key") != "state") ++at;
    return table.at("rows").at(0).at(at).get<std::string>();
  };
  const auto reason = [](const Json& document) {
    return document.at("kernels").at(0).at("unproven").get<std::string>();
  };
  database.begin_run("aaaaaaaa");
  const Json before = tune();
  EXPECT_THAT(state(before), testing::Not(testing::HasSubstr("unproven")));
  EXPECT_EQ(reason(before), "");

  database.mark_unproven("never run on a GPU");
  database.begin_run("bbbbbbbb");
  const Json after = tune();
  EXPECT_THAT(state(after), testing::HasSubstr("unproven"));
  EXPECT_EQ(reason(after), "never run on a GPU");
}

}  // namespace
}  // namespace tuner::report
