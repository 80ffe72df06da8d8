// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/sweep.hpp"

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

using testing::HasSubstr;
using testing::Not;

class SweepTest : public testing::Test {
 protected:
  const std::string text_ = read_file(TUNER_SOURCE_DIR "/tests/data/sweep/sample.json", 1 << 20);
  const Json whole_ = Json::parse(text_);
  const Json sweep_ = parse_sweep(text_, "sample.json");
};

TEST_F(SweepTest, IsReadAsFarAsThePageShowsIt) {
  EXPECT_EQ(sweep_device(sweep_), "NVIDIA H200");
  EXPECT_EQ(sweep_.at("sizes").at(0), Json::parse(R"({"size": "64,64,64", "flops": 524288})"));
  const Json &side = sweep_.at("sides").at(1), &whole = whole_.at("sides").at(1);
  EXPECT_EQ(side.at("times").size(), whole.at("times").size());
  EXPECT_EQ(side.at("times").at(0).at("median_ns"), whole.at("times").at(0).at("median_ns"));
  EXPECT_THAT(text_, HasSubstr("\"message\""));
  EXPECT_THAT(sweep_.dump(), Not(HasSubstr("message"))) << "a message may name a folder";
}

TEST_F(SweepTest, AFileOfAnEarlierVersionIsReadToo) {
  Json sweep = whole_;
  sweep.erase("measured_at");
  for (Json& side : sweep["sides"]) {
    side.erase("skipped");
    for (Json& transfer : side["transfers"]) {
      for (const char* const key : {"allocate_ns", "free_ns", "pin_ns"}) transfer.erase(key);
    }
  }
  const Json read = parse_sweep(sweep.dump(), "earlier.json");
  EXPECT_TRUE(read.at("sides").at(1).at("transfers").at(0).contains("total_ns"));
}

TEST_F(SweepTest, WhatThePageCannotReadIsRefused) {
  const auto refuses = [&](const char* place, const Json& value) {
    Json sweep = whole_;
    sweep[Json::json_pointer(place)] = value;
    try {
      static_cast<void>(parse_sweep(sweep.dump(), "x.json"));
    } catch (const Error& error) {
      return error.code() == ErrorCode::usage;
    }
    return false;
  };
  EXPECT_FALSE(refuses("/family", "another"));
  EXPECT_TRUE(refuses("/family", 7));
  EXPECT_TRUE(refuses("/sides", Json::array()));
  EXPECT_TRUE(refuses("/sides/0/times/0/size", 99)) << "there is no such size";
  EXPECT_TRUE(refuses("/sides/0/times/0/size", -1));
  EXPECT_TRUE(refuses("/sides/1/start_up", nullptr));
  EXPECT_TRUE(refuses("/comparisons/0/between", Json::array({"CPU"})));
}

TEST_F(SweepTest, StandsOnThePageOfItsDevice) {
  const store::Store store = sample_store();
  const Json document = report_document(store, "NVIDIA H200", {.sweeps = {sweep_}});
  EXPECT_EQ(document.at("sweeps").size(), 1U);
  EXPECT_EQ(document.at("sweeps").at(0), sweep_);
  Json elsewhere = sweep_;
  elsewhere["sides"][1]["device"] = "another";
  const Additions others{.sweeps = {elsewhere}};
  EXPECT_TRUE(report_document(store, "NVIDIA H200", others).at("sweeps").empty());
  EXPECT_EQ(write_reports(store, std::nullopt, testing::TempDir(), others).size(),
            write_reports(store, std::nullopt, testing::TempDir()).size() + 1)
      << "a page of its own, of the sweep alone";
}

TEST_F(SweepTest, NeedsNoDatabase) {
  const std::array sweeps = {sweep_};
  const auto pages = write_sweep_reports(std::nullopt, testing::TempDir(), sweeps);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].filename(), "nvidia-h200.html");
  const std::string page = read_file(pages[0], std::size_t{16} << 20);
  const Json data = data_of_page(page);
  EXPECT_EQ(data.at("device"), "NVIDIA H200");
  EXPECT_EQ(data.at("period"), "2026-11-22");
  EXPECT_EQ(data.at("sweeps").size(), 1U);
  EXPECT_EQ(data.at("facts").at(0).at(0), "Driver");
  EXPECT_THAT(page, HasSubstr("<h1>NVIDIA H200</h1>"));
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
