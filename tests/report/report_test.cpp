// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report.hpp"

#include "page_data.hpp"
#include "sample_store.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/report/kernel_sections.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/standing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace tuner::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A size of 1000³ with times that make round numbers: best 100 µs → 20 TFLOP/s.
class Report : public testing::Test {
 protected:
  Report() {
    store::RunRecord record;
    record.uuid = "11111111-2222";
    record.device = subject_.device.name;
    record.backend = "cuda";
    record.family = "gemm";
    record.kernel = "gemm_shared";
    record.kernel_hash = subject_.kernel.hash;
    record.problems = {kProblem};
    record.strategy = "exhaustive";
    record.command = "tune --kernel gemm_shared";
    run_ = store_.begin_run(subject_, record);
  }

  void add_trial(int tile_m, int pad, std::optional<double> ns, Outcome outcome = Outcome::ok,
                 const std::string& message = "", int third = 0) {
    store::TrialRecord trial;
    trial.problem = kProblem;
    trial.config_json = fmt::format(R"({{"PAD":{},"TILE_M":{}}})", pad, tile_m);
    if (third > 0) {
      trial.config_json.insert(trial.config_json.size() - 1, fmt::format(R"(,"THIRD":{})", third));
    }
    trial.outcome = outcome;
    trial.message = message;
    if (ns) trial.time = TimeSummary{*ns, *ns, *ns, *ns, 5};
    store_.record_trial(run_, trial, elapsed_s_ += 2);
  }

  void add_final(double flops = 2e9) {
    store::BestRecord best;
    best.problem = kProblem;
    best.config_json = R"({"PAD":1,"TILE_M":64})";
    best.time = {100e3, 99e3, 101e3, 98e3, 30};
    best.library_ns = 50e3;
    best.default_ns = 320e3;
    best.ratio_to_library = 0.5;
    best.ratio_to_library_low = 0.495;
    best.ratio_to_library_high = 0.505;
    best.ratio_to_default = 3.2;
    best.library_name = "cuBLAS 13.0.2";
    best.ties = 2;
    best.flops = flops;
    best.run_uuid = "11111111-2222";
    best.recorded_at = "2025-11-21T09:00:00Z";
    store::record_lone_final(store_, run_, best);
  }

  [[nodiscard]] Json kernel() const {
    return report_document(store_, subject_.device.name).at("kernels").at(0);
  }
  [[nodiscard]] Json size_section(const std::string& kind) const {
    return section_of(kernel().at("sizes").at(0).at("sections"), kind);
  }
  static Json section_of(const Json& sections, const std::string& kind) {
    for (const Json& section : sections) {
      if (section.at("kind") == kind) return section;
    }
    return {};
  }

  static constexpr const char* kProblem = "1000,1000,1000";
  store::Subject subject_ = sample_subject("gemm_shared");
  store::Store store_ = store::Store::in_memory();
  std::int64_t run_ = 0;
  double elapsed_s_ = 10;
};

TEST_F(Report, AResultIsTheRateTheShareOfTheLibraryTheGainAndTheTies) {
  add_trial(64, 1, 100e3);
  add_final();
  EXPECT_EQ(kernel().at("largest"), Json::parse(R"({"label": "1000×1000×1000", "result": {
    "ns": 100e3, "rate": 20.0, "unit": "TFLOP/s", "measure": "cold", "confirmed": true,
    "library": "cuBLAS", "ratio": 0.5, "gain": 3.2, "ties": 2}})"));
  EXPECT_EQ(kernel().at("sizes").at(0).at("result"), kernel().at("largest").at("result"));
  EXPECT_TRUE(kernel().at("types").at(0).at("ratio").is_null()) << "one size has no range";
}

TEST_F(Report, RangesAreOfTheSizesOfEachType) {
  KernelHistory kernel;
  const auto add = [&](const char* problem, double ratio, double default_ns) {
    store::BestRecord best;
    best.time = {100, 100, 100, 100, 30};
    best.ratio_to_library = ratio;
    best.default_ns = default_ns;
    best.ratio_to_default = default_ns / best.time.median_ns;
    best.library_name = "cuBLAS 13.0.2";
    kernel.sizes.emplace_back();
    kernel.sizes.back().problem = problem;
    kernel.sizes.back().best = best;
  };
  add("8,TYPE=bf16", 0.5, 300);
  add("9,TYPE=bf16", 0.7, 200);
  add("8,TYPE=f16", 0.9, 400);
  EXPECT_EQ(ranges_by_type(kernel), Json::parse(R"([
    {"type": "bf16", "sizes": 2, "library": "cuBLAS", "ratio": [0.5, 0.7], "gain": [2.0, 3.0]},
    {"type": "f16", "sizes": 1, "library": "cuBLAS", "ratio": null, "gain": null}])"));
}

TEST_F(Report, TheUnitOfAProblemSizeSuitsTheLargest) {
  add_trial(64, 1, 100e3);
  for (const auto& [flops, label, extent] :
       std::vector<std::tuple<double, std::string, double>>{{2e9, "Problem size (GFLOP)", 2},
                                                            {2e7, "Problem size (MFLOP)", 20},
                                                            {2e3, "Problem size (kFLOP)", 2}}) {
    add_final(flops);
    const Json table = section_of(kernel().at("sections"), "performance").at("table");
    EXPECT_EQ(table.at("columns").at(2).at("label"), label);
    EXPECT_EQ(table.at("rows").at(0).at(2), extent);
  }
}

TEST_F(Report, BeforeAFinalAResultIsNotConfirmed) {
  add_trial(64, 1, 100e3);
  const Json result = kernel().at("largest").at("result");
  EXPECT_EQ(result.at("confirmed"), false);
  EXPECT_EQ(result.at("ns"), 100e3);
  EXPECT_TRUE(result.at("rate").is_null());
}

TEST_F(Report, WhenNothingSucceededThereIsNoResult) {
  add_trial(32, 0, {}, Outcome::compile_error);
  EXPECT_EQ(kernel().at("largest"), Json::parse(R"({"label": "1000×1000×1000", "result": null})"));
}

TEST_F(Report, ASizeHoldsItsConfigurationAndTheCommandToUseIt) {
  add_trial(64, 1, 100e3);
  add_final();
  const Json use = kernel().at("sizes").at(0).at("use");
  EXPECT_EQ(use.at("config"), "TILE_M=64,PAD=1");
  EXPECT_EQ(use.at("command"),
            "tune query --kernel gemm_shared --size 1000,1000,1000 --device 'NVIDIA H200' "
            "--format cpp");
}

TEST_F(Report, ParametersStandInTheOrderOfTheSpaceFile) {
  add_trial(64, 1, 100e3);
  add_final();
  const Json trials = kernel().at("sizes").at(0).at("trials");
  EXPECT_EQ(trials.at("parameters").at(0).at("name"), "TILE_M");
  EXPECT_EQ(trials.at("parameters").at(1).at("name"), "PAD");
}

TEST_F(Report, ConvergenceKeepsTheCandidatesThatImproved) {
  add_trial(32, 0, 400e3);
  add_trial(32, 1, {}, Outcome::timeout);
  add_trial(64, 0, 104e3);
  add_trial(128, 0, 300e3);
  add_trial(64, 1, 100e3);
  const Json section = size_section("convergence");
  EXPECT_EQ(section.at("table").at("rows"),
            Json::parse(R"([["11111111","exhaustive",1,0.0,400000.0,"TILE_M=32,PAD=0"],
                            ["11111111","exhaustive",3,4.0,104000.0,"TILE_M=64,PAD=0"],
                            ["11111111","exhaustive",5,8.0,100000.0,"TILE_M=64,PAD=1"]])"));
  EXPECT_EQ(section.at("runs"), Json::parse(R"([{"run": "11111111", "strategy": "exhaustive",
    "trials": 5, "elapsed_s": 8.0, "state": "few_trials"}])"));
}

TEST_F(Report, DistributionCountsEveryWorkingCandidateOnce) {
  for (int i = 0; i < 100; ++i) add_trial(i, 0, 100e3 * (1 + i % 10));
  add_trial(500, 0, {}, Outcome::launch_error);
  const Json rows = size_section("distribution").at("table").at("rows");
  std::uint64_t total = 0;
  for (const Json& row : rows) total += row.at(2).get<std::uint64_t>();
  EXPECT_EQ(total, 100);
  EXPECT_EQ(rows.front().at(0), 100e3);
  EXPECT_EQ(rows.back().at(1), 1000e3);
  EXPECT_EQ(rows.back().at(3), 1.0);
  EXPECT_EQ(size_section("distribution").at("near"), 10);
  EXPECT_EQ(size_section("distribution").at("median"), 600e3);
}

TEST_F(Report, HeatmapTakesTheBestOverTheOtherParametersForEachPair) {
  for (int third = 0; third < 16; ++third) {
    add_trial(32, 0, 400e3 + third, Outcome::ok, "", third);
    add_trial(64, 0, 200e3 + third, Outcome::ok, "", third);
    add_trial(64, 1, 100e3 + third, Outcome::ok, "", third);
  }
  add_trial(128, 1, {}, Outcome::compile_error);
  add_final();
  const Json section = size_section("heatmap");
  EXPECT_EQ(section.at("parameters").at(0),
            Json::parse(R"({"name":"TILE_M","values":["32","64","128"]})"));
  // TILE_M by PAD: 64/1 20 TFLOP/s, 64/0 10, 32/0 5; 128/1 failed.
  EXPECT_EQ(section.at("pairs").at(0).at("rows"),
            Json::parse("[[1,1,20.0,16,16],[1,0,10.0,16,16],[0,0,5.0,16,16],[2,1,null,0,1]]"));
}

TEST_F(Report, FailuresAreCountedByCauseWithAMessageWithoutDirectories) {
  add_trial(32, 0, 400e3);
  add_trial(64, 0, {}, Outcome::compile_error, "/tmp/tuner-7/k.cu(3): error: no");
  add_trial(64, 1, {}, Outcome::compile_error, "another");
  add_trial(128, 1, {}, Outcome::wrong_result, "C[0,0]");
  const Json section = section_of(kernel().at("sections"), "failures");
  EXPECT_EQ(section.at("tried"), 4);
  const Json& rows = section.at("table").at("rows");
  EXPECT_EQ(rows.size(), 2) << "none of those that did not fail";
  EXPECT_EQ(rows.at(0), Json({"1000×1000×1000", "compile_error", 2, 0.5, "k.cu(3): error: no",
                              "TILE_M=64,PAD=0"}));
}

TEST_F(Report, ALargeSearchIsSampledWithAllOfTheFastest) {
  KernelHistory kernel;
  kernel.parameters = {"I"};
  SizeHistory size;
  for (int i = 0; i < 12'000; ++i) {
    const double ns = 1e6 - 50.0 * i;  // the last are the fastest
    size.evaluations.push_back({.number = static_cast<std::uint32_t>(i) + 1,
                                .elapsed_s = 0.1 * i,
                                .config = kernel.configs.add(i, fmt::format(R"({{"I":{}}})", i)),
                                .time = TimeSummary{ns, ns, ns, ns, 5}});
  }
  kernel.configs.order(kernel.parameters);
  rank_trials(size.evaluations);
  const Json trials = trial_columns(kernel, size);
  EXPECT_EQ(trials.at("total"), 12'000);
  EXPECT_EQ(trials.at("shown"), kTrialLimit);
  const auto evaluations = trials.at("trial").get<std::vector<int>>();
  ASSERT_EQ(evaluations.size(), kTrialLimit);
  EXPECT_TRUE(std::is_sorted(evaluations.begin(), evaluations.end()));
  EXPECT_EQ(evaluations[kTrialLimit - 2500], 9'501) << "the 2,500 fastest without a gap";
  EXPECT_EQ(evaluations.back(), 12'000);
  EXPECT_EQ(trial_columns(kernel, size), trials) << "the same sample every time";
}

TEST_F(Report, OnlyTheKernelVersionTunedLastIsShown) {
  add_trial(64, 1, 100e3);
  store::Subject changed = subject_;
  changed.kernel.hash = "00000000000000000000000000000000";
  store::RunRecord record;
  record.uuid = "33333333";
  record.device = changed.device.name;
  record.family = "gemm";
  record.kernel = "gemm_shared";
  record.kernel_hash = changed.kernel.hash;
  const std::int64_t later = store_.begin_run(changed, record);
  store::TrialRecord trial;
  trial.problem = "8,8,8";
  trial.config_json = R"({"TILE_M":8})";
  trial.time = TimeSummary{1e3, 1e3, 1e3, 1e3, 5};
  store_.record_trial(later, trial, 1);
  const Json sizes = kernel().at("sizes");
  ASSERT_EQ(sizes.size(), 1);
  EXPECT_EQ(sizes.at(0).at("problem"), "8,8,8");
}

TEST(Shareable, DropsTheDirectoriesOfAbsolutePathsOnly) {
  EXPECT_EQ(shareable("in '/home/me/k.cu' and x/y: 3/4"), "in 'k.cu' and x/y: 3/4");
}

TEST(Shareable, CutsLongMessagesBetweenCharacters) {
  const std::string message = shareable(std::string(599, 'a') + "é and more");
  EXPECT_EQ(message, std::string(599, 'a') + "…");
}

/// The page of the sample database before its data and script, which hold the same names safely
/// and would drown a failure's message.
std::string sample_markup() {
  const TemporaryDirectory directory;
  const auto paths = write_reports(sample_store(), std::nullopt, directory.path());
  const std::string page = read_file(paths.at(0), 16 << 20);
  return page.substr(0, page.find("<script type=\"application/json\""));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RenderPage, ShowsHostileNamesAsText) {
  const std::string markup = sample_markup();
  EXPECT_FALSE(contains(markup, "<script"));
  EXPECT_FALSE(contains(markup, "<img"));
  EXPECT_FALSE(contains(markup, "<b>"));
  EXPECT_TRUE(contains(markup, "&lt;script&gt;window.hit=1&lt;/script&gt;{{data}}"));
}

TEST(RenderPage, AllowsNothingButItsOwnScriptAndStyle) {
  const std::string markup = sample_markup();
  EXPECT_TRUE(contains(markup, "default-src 'none'; script-src '"));
  EXPECT_TRUE(contains(markup, "style-src 'sha256-"));
  EXPECT_FALSE(contains(markup, "unsafe-"));
  EXPECT_FALSE(contains(markup, " style="));
}

TEST(RenderPage, HasTheBestConfigurationsInATableWithoutAScript) {
  const std::string markup = sample_markup();
  const std::size_t noscript = markup.find("<noscript>");
  ASSERT_NE(noscript, std::string::npos);
  const std::string plain = markup.substr(noscript);
  EXPECT_TRUE(contains(plain, "<th>Family<th>Kernel<th>Size<th>Time<th>Configuration<tr>"));
  EXPECT_TRUE(contains(
      plain, "<tr><th rowspan=5>gemm<th rowspan=5>gemm_shared<td><td><th>TILE_M,TILE_N,TILE_K,"))
      << "named once, beside the four sizes";
  EXPECT_TRUE(contains(plain, "<tr><td>4096×4096×4096<td>"));
  EXPECT_FALSE(contains(plain, "TILE_M="));
}

TEST(RenderPage, HasTheDeviceBeforeItsScript) {
  const std::string markup = sample_markup();
  const std::size_t header = markup.find("<header>");
  ASSERT_NE(header, std::string::npos);
  EXPECT_LT(header, markup.find("<noscript>"));
  EXPECT_TRUE(contains(markup.substr(header, 200), "<h1>NVIDIA H200</h1></header>"));
}

TEST(RenderPage, CarriesTheDocumentThatItsScriptDraws) {
  const Json document = report_document(sample_store(), "NVIDIA H200");
  const Json data = data_of_page(render_page(document));
  for (const char* const part : {"device", "facts", "families", "sweeps", "comparisons"}) {
    EXPECT_EQ(data.at(part), document.at(part)) << part;
  }
  ASSERT_EQ(data.at("kernels").size(), document.at("kernels").size());
  EXPECT_EQ(data["kernels"][1].at("largest"), document["kernels"][1].at("largest"));
}

TEST(WriteReports, WritesOnePageNamedAfterEachDevice) {
  const TemporaryDirectory directory;
  const auto paths = write_reports(sample_store(), std::nullopt, directory.path() / "new");
  EXPECT_THAT(paths, ElementsAre(directory.path() / "new" / "nvidia-h200.html"));
  EXPECT_EQ(read_file(paths.at(0), 16 << 20).substr(0, 15), "<!doctype html>");
}

TEST(WriteReports, AnEmptyDatabaseIsNothingFound) {
  const TemporaryDirectory directory;
  try {
    write_reports(store::Store::in_memory(), std::nullopt, directory.path());
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nothing_found);
    EXPECT_THAT(error.what(), HasSubstr("such as `tune --space spaces/transpose.json`"));
  }
}

TEST(WriteReports, WithoutATrialTheLastCommandIsNamed) {
  const store::Subject subject = sample_subject("gemm_shared");
  store::Store store = store::Store::in_memory();
  store::RunRecord run;
  run.uuid = "aaaaaaaa";
  run.device = subject.device.name;
  run.backend = "cuda";
  run.family = "gemm";
  run.kernel = "gemm_shared";
  run.kernel_hash = subject.kernel.hash;
  run.strategy = "auto";
  run.command = "tune --space mine.json --db my.db";
  static_cast<void>(store.begin_run(subject, run));
  for (const std::optional<std::string>& device :
       {std::optional<std::string>(), std::optional<std::string>("NVIDIA H200")}) {
    const TemporaryDirectory directory;
    try {
      write_reports(store, device, directory.path());
      FAIL() << "must throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::nothing_found);
      EXPECT_THAT(error.what(), HasSubstr("no trial has ended yet; the last run was `tune --space "
                                          "mine.json --db my.db`"));
    }
  }
  EXPECT_THROW(report_document(store, "NVIDIA H200"), Error);
}

TEST(WriteReports, AnUnknownDeviceIsAnsweredWithTheKnownOnes) {
  const TemporaryDirectory directory;
  try {
    write_reports(sample_store(), "NVIDIA H100", directory.path());
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nothing_found);
    EXPECT_THAT(error.what(), HasSubstr("known: NVIDIA H200"));
  }
}

}  // namespace
}  // namespace tuner::report
