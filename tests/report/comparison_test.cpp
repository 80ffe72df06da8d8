// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/comparison.hpp"

#include "page_data.hpp"
#include "sample_store.hpp"
#include "tuner/report/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kSamples = 100;

/// A result of 100 samples, whose quartiles are 1 % apart.
store::StoredBest result(const std::string& kernel, const std::string& problem, double median_ns,
                         const std::string& driver = "580.1") {
  auto subject = std::make_shared<store::Subject>(sample_subject(kernel));
  subject->kernel.family = "family";
  subject->environment.driver = driver;
  store::StoredBest stored{.subject = std::move(subject), .best = {}};
  stored.best.problem = problem;
  stored.best.config_json = R"({"A":1})";
  stored.best.time = {median_ns, 0.995 * median_ns, 1.005 * median_ns, 0.99 * median_ns, kSamples};
  return stored;
}

store::StoredBest beside_library(store::StoredBest stored, double library_ns,
                                 const std::string& library = "cuBLAS 13.0.2") {
  const double ratio = library_ns / stored.best.time.median_ns;
  stored.best.library_ns = library_ns;
  stored.best.library_name = library;
  stored.best.ratio_to_library = ratio;
  stored.best.ratio_to_library_low = 0.999 * ratio;
  stored.best.ratio_to_library_high = 1.001 * ratio;
  return stored;
}

store::StoredBest on_device(store::StoredBest stored, const std::string& name) {
  auto subject = std::make_shared<store::Subject>(*stored.subject);
  subject->device.name = name;
  stored.subject = std::move(subject);
  return stored;
}

Comparison comparison(std::vector<store::StoredBest> a, std::vector<store::StoredBest> b,
                      ComparedBy by = ComparedBy::time) {
  return compare({"old.db", std::move(a)}, {"new.db", std::move(b)}, by);
}

TEST(Comparison, AnIntervalDecidesWhatChanged) {
  EXPECT_EQ(change_of({1.05, 1.04, 1.06}), Change::faster);
  EXPECT_EQ(change_of({0.95, 0.94, 0.96}), Change::slower);
  EXPECT_EQ(change_of({1.002, 0.995, 1.009}), Change::same);
  EXPECT_EQ(change_of({1.002, 0.98, 1.02}), Change::uncertain);
  // All of it above 1, and all of it within 1 %: that fast a change is no change.
  EXPECT_EQ(change_of({1.004, 1.001, 1.007}), Change::same);
}

TEST(Comparison, TheRatioIsThatOfTheMediansWithTheErrorsOfBoth) {
  const Comparison found = comparison({result("k", "1", 1050)}, {result("k", "1", 1000)});
  ASSERT_THAT(found.sizes, SizeIs(1));
  const Ratio& ratio = found.sizes[0].ratio;
  EXPECT_DOUBLE_EQ(ratio.value, 1.05);
  // 1.96 · 1.2533 / 1.349 · log(1.005 / 0.995) / √100 for each of the two.
  const double half = std::sqrt(2.0) * 1.8209 * std::log(1.005 / 0.995) / 10;
  EXPECT_NEAR(std::log(ratio.high / ratio.value), half, 1e-6);
  EXPECT_NEAR(std::log(ratio.value / ratio.low), half, 1e-6);
  EXPECT_EQ(found.sizes[0].change, Change::faster);
}

TEST(Comparison, CopiesOfOneResultAreTheSame) {
  store::StoredBest noisy = result("k", "1", 1000);
  noisy.best.time.q3_ns = 2000;
  noisy.best.run_uuid = "run";
  const auto change_to = [&](const store::StoredBest& other) {
    return comparison({noisy}, {other}).sizes.at(0).change;
  };
  EXPECT_EQ(change_to(noisy), Change::same);
  store::StoredBest another = noisy;
  another.best.run_uuid = "later";
  EXPECT_EQ(change_to(another), Change::uncertain);
}

TEST(Comparison, TakesTheFastestKernelOfTheFamilyAndOfEachItsNewestResult) {
  const Comparison found =
      comparison({result("slow", "1", 3000), result("fast", "1", 1000), result("fast", "1", 10)},
                 {result("slow", "1", 2000)});
  ASSERT_THAT(found.sizes, SizeIs(1));
  EXPECT_EQ(found.sizes[0].a.subject->kernel.kernel, "fast");
  EXPECT_DOUBLE_EQ(found.sizes[0].ratio.value, 0.5);
}

TEST(Comparison, SizesOfOneSideAloneAreCounted) {
  const Comparison found =
      comparison({result("k", "1", 100), result("k", "2", 100)},
                 {result("k", "2", 100), result("k", "3", 100), result("k", "4", 100)});
  EXPECT_THAT(found.sizes, SizeIs(1));
  EXPECT_EQ(found.only_a, 1U);
  EXPECT_EQ(found.only_b, 2U);
  EXPECT_THAT(comparison_sentences(found).back(), HasSubstr("1 only in A, 2 only in B."));
}

TEST(Comparison, OneDeviceBesideAnother) {
  const Comparison across = comparison({on_device(result("k", "1", 200), "H100")},
                                       {on_device(result("k", "1", 100), "H200")});
  ASSERT_THAT(across.sizes, SizeIs(1));
  EXPECT_DOUBLE_EQ(across.sizes[0].ratio.value, 2);
  // Of several devices each is compared with itself.
  const Comparison within = comparison(
      {on_device(result("k", "1", 200), "H100"), on_device(result("k", "1", 100), "H200")},
      {on_device(result("k", "1", 50), "H200")});
  ASSERT_THAT(within.sizes, SizeIs(1));
  EXPECT_DOUBLE_EQ(within.sizes[0].ratio.value, 2);
  EXPECT_EQ(within.only_a, 1U);
}

TEST(Comparison, TheLibraryShowsWhatTheMachineDid) {
  // A machine that is 5 % slower: the kernel is not.
  const std::vector<store::StoredBest> a = {beside_library(result("k", "1", 1000), 2000)};
  const std::vector<store::StoredBest> b = {beside_library(result("k", "1", 1050), 2100)};
  const Comparison by_time = comparison(a, b);
  EXPECT_EQ(by_time.sizes[0].change, Change::slower);
  EXPECT_NEAR(*by_time.sizes[0].library, 1 / 1.05, 1e-9);
  EXPECT_THAT(comparison_sentences(by_time)[1], HasSubstr("×0.952"));
  const Comparison by_library = comparison(a, b, ComparedBy::library);
  EXPECT_EQ(by_library.sizes[0].change, Change::same);
  EXPECT_NEAR(by_library.sizes[0].ratio.value, 1, 1e-9);
  EXPECT_NEAR(std::log(by_library.sizes[0].ratio.high), std::hypot(0.001, 0.001), 2e-6);
}

TEST(Comparison, AnotherLibraryIsNoMeasure) {
  const std::vector<store::StoredBest> a = {beside_library(result("k", "1", 1000), 2000)};
  const std::vector<store::StoredBest> b = {
      beside_library(result("k", "1", 1000), 2100, "cuBLAS 14.0")};
  EXPECT_FALSE(comparison(a, b).sizes[0].library);
  const Comparison by_library = comparison(a, b, ComparedBy::library);
  EXPECT_THAT(by_library.sizes, IsEmpty());
  EXPECT_EQ(by_library.without_library, 1U);
}

TEST(Comparison, TheSlowestStandFirst) {
  const Comparison found = comparison(
      {result("k", "1", 100), result("k", "2", 100), result("k", "3", 100), result("k", "4", 100)},
      {result("k", "1", 100), result("k", "2", 90), result("k", "3", 110), result("k", "4", 120)});
  std::vector<std::string> order;
  for (const ComparedSize& size : found.sizes) order.push_back(size.b.best.problem);
  EXPECT_THAT(order, ElementsAre("4", "3", "2", "1"));
  EXPECT_EQ(count_of(found.sizes, Change::slower), 2U);
  EXPECT_NEAR(*geometric_mean(found.sizes), std::pow(1 / (0.9 * 1.1 * 1.2), 0.25), 1e-9);
}

TEST(Comparison, WordsChooseResults) {
  const std::vector<store::StoredBest> all = {result("gemm_a", "1", 1, "580.159.04"),
                                              result("gemm_b", "1", 1, "570.80")};
  const auto kernels = [&](const char* words) {
    std::vector<std::string> names;
    for (const auto& one : results_about(all, words)) names.push_back(one.subject->kernel.kernel);
    return names;
  };
  EXPECT_THAT(kernels("580"), ElementsAre("gemm_a"));
  EXPECT_THAT(kernels("80"), ElementsAre("gemm_b"));  // not within 580
  EXPECT_THAT(kernels("h200"), SizeIs(2));
  EXPECT_THAT(kernels("gemm_b"), ElementsAre("gemm_b"));
  EXPECT_THAT(kernels("gemm_c"), IsEmpty());
}

TEST(Comparison, TheLatestEnvironmentBesideEachEarlierOne) {
  const std::vector<Comparison> found =
      comparisons_with_latest({result("k", "1", 90, "580"), result("k", "1", 100, "570"),
                               result("k", "2", 100, "560"), result("k", "1", 120, "550")});
  ASSERT_THAT(found, SizeIs(2));  // nothing was measured with both 560 and 580
  EXPECT_THAT(found[0].a.name, HasSubstr("driver 570"));
  EXPECT_THAT(found[0].b.name, HasSubstr("driver 580"));
  EXPECT_THAT(found[1].a.name, HasSubstr("driver 550"));
  EXPECT_NEAR(found[1].sizes[0].ratio.value, 120.0 / 90, 1e-9);
}

TEST(Comparison, StandsOnAPageOfItsOwn) {
  const Comparison found =
      comparison({result(kHostileName, "1", 100)}, {result(kHostileName, "1", 110)});
  const std::string page = render_page(comparison_document(found));
  const Json data = data_of_page(page);
  EXPECT_THAT(data.at("comparisons").at(0).at("title"), HasSubstr("old.db → new.db"));
  const Json& row = data["comparisons"][0].at("table").at("rows").at(0);
  EXPECT_THAT(row, testing::Contains(Json("SLOWER")));
  EXPECT_THAT(row, testing::Contains(Json(0.909091)));
  EXPECT_EQ(page.find("<script>window.hit"), std::string::npos);
  EXPECT_THAT(data.at("kernels"), IsEmpty());
}

TEST(Comparison, IsPartOfADevicesPage) {
  const store::Store store = sample_store();
  std::vector<store::StoredBest> earlier = store.bests({});
  for (store::StoredBest& one : earlier) {
    for (double TimeSummary::*time : {&TimeSummary::median_ns, &TimeSummary::q1_ns,
                                      &TimeSummary::q3_ns, &TimeSummary::min_ns}) {
      one.best.time.*time *= 2;
    }
  }
  const Json document =
      report_document(store, "NVIDIA H200", {.compared = {{"last-month.db", earlier}}});
  ASSERT_EQ(document.at("comparisons").size(), 1U);
  const Json& part = document["comparisons"][0];
  EXPECT_THAT(part.at("title"), HasSubstr("last-month.db"));
  EXPECT_THAT(part.at("verdict")[0].get<std::string>(), HasSubstr("×2.000"));
  EXPECT_THAT(report_document(store, "NVIDIA H200").at("comparisons"), IsEmpty());
}

}  // namespace
}  // namespace tuner::report
