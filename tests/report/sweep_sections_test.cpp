// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/sweep_sections.hpp"

#include "page_data.hpp"
#include "sample_store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/report/report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>

namespace tuner::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SweepSectionsTest : public testing::Test {
 protected:
  [[nodiscard]] Json section(const std::string& kind) const {
    for (const Json& each : part_.at("sections")) {
      if (each.at("kind") == kind) return each;
    }
    return {};
  }
  [[nodiscard]] static Json rows(const Json& section) { return section.at("table").at("rows"); }

  const Json sweep_ = parse_sweep(
      read_file(TUNER_SOURCE_DIR "/tests/data/sweep/sample.json", 1 << 20), "sample.json");
  const Json part_ = sweep_part(sweep_);
};

TEST_F(SweepSectionsTest, TheVerdictSaysOnWhatItRan) {
  EXPECT_EQ(sweep_device(sweep_), "NVIDIA H200");
  EXPECT_THAT(part_.at("verdict").get<std::string>(),
              HasSubstr("CPU: Sample processor, 16 threads, vectors of 512 bits (g++ 12.2.0, "
                        "OpenBLAS 0.3.21). GPU: NVIDIA H200 (NVRTC 13.0, cuBLAS 13.1.0). All "
                        "computed the same"));
}

TEST_F(SweepSectionsTest, CurvesHaveAColumnForEachContenderAndGapsWhereItWasNotTimed) {
  const Json curves = section("curves");
  std::vector<std::string> labels;
  for (const Json& column : curves.at("table").at("columns")) labels.push_back(column.at("label"));
  EXPECT_THAT(labels, ElementsAre("Size", "Size (mean of the dimensions)", "CPU OpenBLAS 0.3.21",
                                  "CPU slow", "GPU cuBLAS 13.1.0", "GPU tuned", "GPU broken"));
  EXPECT_EQ(rows(curves).at(2),
            Json({"1024×1024×1024", 1024.0, 8e6, nullptr, 50000.0, 48000.0, nullptr}));
  EXPECT_EQ(curves.at("answer"),
            "The kernel's time. CPU or GPU, the kernel alone: faster is GPU from 64×64×64 to "
            "1024×1024×1024. Skipped: "
            "CPU slow from 1024×1024×1024.");
}

TEST_F(SweepSectionsTest, CurvesWithTransfersHaveTheProcessorBesideTheTransfersOfAPlacement) {
  std::vector<std::string> titles;
  for (const Json& each : part_.at("sections")) titles.push_back(each.at("title"));
  EXPECT_THAT(titles, ElementsAre("Fastest contender over sizes", "With transfers, pageable",
                                  "With transfers, mapped", "Parts of a transfer", "GPU over CPU",
                                  "Speed-up", "One-time costs"));
  const Json& pageable = part_.at("sections").at(1);
  EXPECT_EQ(pageable.at("table").at("columns").size(), 5U);
  EXPECT_EQ(rows(pageable).at(0), Json({"64×64×64", 64.0, 2e4, 3e5, 52000.0}));
  EXPECT_EQ(pageable.at("answer"),
            "Allocation, copies, kernel and free. CPU or GPU, with transfers, pageable: faster "
            "is CPU at 64×64×64, then GPU from 256×256×256 to 1024×1024×1024.");
}

TEST_F(SweepSectionsTest, RatiosAreOfTheFastestOfEachSide) {
  const Json ratios = section("ratios");
  EXPECT_EQ(rows(ratios).at(0), Json({"64×64×64", 2.5, 0.384615, 0.990099}));
  EXPECT_THAT(ratios.at("answer").get<std::string>(),
              HasSubstr("At 1024×1024×1024 the fastest on GPU is 167× as fast"));
}

TEST_F(SweepSectionsTest, TheSplitHasThePartsOfATransfer) {
  const Json split = section("split");
  EXPECT_EQ(rows(split).at(0),
            Json({"64×64×64", "tuned, pageable", 5e3, 2e4, 1.5e4, 1e4, 2e3, 5.2e4}));
  EXPECT_THAT(split.at("answer").get<std::string>(),
              HasSubstr("pageable or mapped, with transfers: faster is mapped at 64×64×64, then "
                        "pageable from 256×256×256"));
}

TEST_F(SweepSectionsTest, SpeedUpsAreOverTheSlowestAtTheSize) {
  const Json speedups = section("speedups");
  EXPECT_EQ(rows(speedups).at(0), Json({"64×64×64", "GPU tuned", 8000.0, 65.536, 14400.0, 37.5}));
  EXPECT_EQ(rows(speedups).at(3), Json({"64×64×64", "CPU slow", 3e5, 1.74763, nullptr, 1.0}));
  EXPECT_EQ(speedups.at("answer"),
            "At 1024×1024×1024 GPU tuned is 167 times as fast as CPU OpenBLAS 0.3.21.");
}

TEST_F(SweepSectionsTest, WhatIsPaidOnceIsInOnePlace) {
  const Json start_up = rows(section("start_up"));
  EXPECT_EQ(start_up.at(0), Json({"CPU opening the device", 2.05e7}));
  EXPECT_EQ(start_up.at(2), Json({"compiling slow at 64×64×64", 1.5e8}));
  EXPECT_EQ(start_up.back(), Json({"host memory, mapped, at 1024×1024×1024", 3e5}));
}

TEST_F(SweepSectionsTest, WithoutTransfersThereIsNoSplit) {
  Json sweep = sweep_;
  for (Json& side : sweep["sides"]) side["transfers"] = Json::array();
  EXPECT_EQ(sweep_part(sweep).at("sections").size(), 4U);
}

TEST_F(SweepSectionsTest, AFileOfAnEarlierVersionIsReadToo) {
  Json sweep = sweep_;
  sweep.erase("measured_at");
  for (Json& side : sweep["sides"]) {
    side.erase("skipped");
    for (Json& transfer : side["transfers"]) {
      for (const char* const key : {"allocate_ns", "free_ns", "pin_ns"}) transfer.erase(key);
    }
  }
  const Json part = parse_sweep(sweep.dump(), "earlier.json");
  EXPECT_EQ(sweep_part(part).at("sections").at(3).at("table").at("rows").at(0).at(2), nullptr);
}

TEST_F(SweepSectionsTest, StandsOnThePageOfItsDevice) {
  const store::Store store = sample_store();
  const Json document = report_document(store, "NVIDIA H200", {.sweeps = {sweep_}});
  EXPECT_EQ(document.at("sweeps").size(), 1U);
  EXPECT_THAT(render_page(document), HasSubstr("Fastest contender over sizes"));
  Json elsewhere = sweep_;
  elsewhere["sides"][1]["device"] = "another";
  const Additions others{.sweeps = {elsewhere}};
  EXPECT_TRUE(report_document(store, "NVIDIA H200", others).at("sweeps").empty());
  EXPECT_EQ(write_reports(store, std::nullopt, testing::TempDir(), others).size(),
            write_reports(store, std::nullopt, testing::TempDir()).size() + 1)
      << "a page of its own, of the sweep alone";
}

TEST_F(SweepSectionsTest, NeedsNoDatabase) {
  const std::array sweeps = {sweep_};
  const auto pages = write_sweep_reports(std::nullopt, testing::TempDir(), sweeps);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].filename(), "nvidia-h200.html");
  const std::string page = read_file(pages[0], std::size_t{16} << 20);
  const Json data = data_of_page(page);
  EXPECT_EQ(data.at("device"), "NVIDIA H200");
  EXPECT_EQ(data.at("period"), "2026-11-22");
  for (const char* const text : {"<h1>NVIDIA H200</h1>", "NVRTC 13.0", "GPU over CPU"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THROW(write_sweep_reports("another", testing::TempDir(), sweeps), Error);
}

TEST(ParseSweep, RefusesWhatIsNone) {
  for (const char* const text :
       {"{}", "[]", R"({"schema": "tune.bench/1"})", R"({"schema": "tune.sweep/2", "sides": []})",
        R"({"schema": "tune.sweep/2", "sides": [{"name": "GPU"}]})"}) {
    EXPECT_THROW(static_cast<void>(parse_sweep(text, "x.json")), Error) << text;
  }
}

}  // namespace
}  // namespace tuner::report
