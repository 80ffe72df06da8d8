// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/sweep_sections.hpp"

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
  EXPECT_THAT(labels, ElementsAre("Size", "Mean extent", "CPU OpenBLAS 0.3.21", "CPU slow",
                                  "GPU cuBLAS 13.1.0", "GPU tuned", "GPU broken"));
  EXPECT_EQ(rows(curves).at(2),
            Json({"1024×1024×1024", 1024.0, 8e6, nullptr, 50000.0, 48000.0, nullptr}));
  EXPECT_EQ(curves.at("answer"),
            "CPU or GPU, the kernel alone: faster is GPU from 64×64×64 to 1024×1024×1024. CPU or "
            "GPU, with the data's way, pageable: faster is CPU at 64×64×64, then GPU from "
            "256×256×256 to 1024×1024×1024.");
}

TEST_F(SweepSectionsTest, TheSplitHasTheTripsParts) {
  const Json split = section("split");
  EXPECT_EQ(rows(split).at(0), Json({"64×64×64", "pageable", 2e4, 1.5e4, 1e4, 4.5e4, "tuned"}));
  EXPECT_THAT(split.at("answer").get<std::string>(),
              HasSubstr("pageable or mapped, the whole trip: faster is mapped at 64×64×64, then "
                        "pageable from 256×256×256"));
}

TEST_F(SweepSectionsTest, SpeedUpsAreOverTheSlowestAtTheSize) {
  const Json speedups = section("speedups");
  EXPECT_EQ(rows(speedups).at(0), Json({"64×64×64", "GPU tuned", 8000.0, 37.5}));
  EXPECT_EQ(rows(speedups).at(3), Json({"64×64×64", "CPU slow", 3e5, 1.0}));
  EXPECT_EQ(speedups.at("answer"),
            "At 1024×1024×1024 GPU tuned is 167 times as fast as CPU OpenBLAS 0.3.21.");
}

TEST_F(SweepSectionsTest, WhatIsPaidOnceIsInOnePlace) {
  const Json start_up = rows(section("start_up"));
  EXPECT_EQ(start_up.at(0), Json({"CPU opening the device", 2.05e7}));
  EXPECT_EQ(start_up.at(2), Json({"compiling slow at 64×64×64", 1.5e8}));
}

TEST_F(SweepSectionsTest, WithoutTripsThereIsNoSplit) {
  Json sweep = sweep_;
  for (Json& side : sweep["sides"]) side["trips"] = Json::array();
  EXPECT_EQ(sweep_part(sweep).at("sections").size(), 3U);
}

TEST_F(SweepSectionsTest, StandsOnThePageOfItsDevice) {
  const store::Store store = sample_store();
  const std::array sweeps = {sweep_};
  const Json document = report_document(store, "NVIDIA H200", sweeps);
  EXPECT_EQ(document.at("sweeps").size(), 1U);
  EXPECT_THAT(render_page(document), HasSubstr("Who is fastest over sizes"));
  Json elsewhere = sweep_;
  elsewhere["sides"][1]["device"] = "another";
  const std::array others = {elsewhere};
  EXPECT_TRUE(report_document(store, "NVIDIA H200", others).at("sweeps").empty());
  EXPECT_THROW(write_reports(store, std::nullopt, testing::TempDir(), others), Error);
}

TEST(ParseSweep, RefusesWhatIsNone) {
  for (const char* const text :
       {"{}", "[]", R"({"schema": "tune.bench/1"})", R"({"schema": "tune.sweep/1", "sides": []})",
        R"({"schema": "tune.sweep/1", "sides": [{"name": "GPU"}]})"}) {
    EXPECT_THROW(static_cast<void>(parse_sweep(text, "x.json")), Error) << text;
  }
}

}  // namespace
}  // namespace tuner::report
