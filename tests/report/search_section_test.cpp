// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/history.hpp"
#include "tuner/report/size_sections.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tuner::report {
namespace {

/// A search of 300 candidates and 90 s.
SearchRun search(const std::string& strategy, std::vector<Improvement> improvements) {
  SearchRun run;
  run.strategy = strategy;
  run.improvements = std::move(improvements);
  run.candidates = 300;
  run.seconds = run.wall_s = 90;
  return run;
}

Json section_of(std::vector<SearchRun> searches) {
  SizeHistory size;
  size.searches = std::move(searches);
  return search_section(size);
}

TEST(SearchSection, TheSoonestStandsFirstAndWhoNeverCameNearLast) {
  const Json section =
      section_of({search("random", {{1, 2, 200}, {90, 40, 102}}), search("genetic", {{1, 2, 200}}),
                  search("auto", {{1, 2, 200}, {41, 7, 100}})});
  const Json& rows = section.at("table").at("rows");
  EXPECT_EQ(Json(rows.at(0).begin() + 5, rows.at(0).begin() + 8), Json({1, 41, 7.0}));
  EXPECT_EQ(rows.at(1).at(0), "random");
  EXPECT_EQ(Json(rows.at(2).begin() + 5, rows.at(2).begin() + 8), Json({0, nullptr, nullptr}));
  EXPECT_EQ(section.at("best_ns"), 100.0);
}

TEST(SearchSection, OfSeveralRunsTheMedianCountsAndHowManyCameNear) {
  const Json section =
      section_of({search("auto", {{10, 2, 102}}), search("auto", {{20, 4, 100}}),
                  search("auto", {{1, 1, 104}}), search("random", {{7, 1, 103}}),
                  search("random", {{1, 1, 150}}), search("random", {{1, 1, 150}})});
  EXPECT_EQ(section.at("table").at("rows"),
            Json::parse(R"([["auto",3,3,10,2.0,2,20,4.0,1.02,1.0,1.04,1.02,1.0,1.04],
                            ["random",3,1,null,null,1,null,null,1.5,1.03,1.5,1.5,1.03,1.5]])"));
}

TEST(SearchSection, TheBestAfterSoLongIsOfRunsThatSearchedAsLong) {
  SearchRun brief = search("auto", {{1, 1, 100}});
  brief.candidates = 199;
  brief.wall_s = 59;
  SearchRun done = brief;
  done.improvements = {{1, 1, 120}};
  done.exhausted = true;
  const Json row = section_of({brief, done}).at("table").at("rows").at(0);
  EXPECT_EQ(Json(row.begin() + 8, row.end()), Json({1.2, 1.2, 1.2, 1.2, 1.2, 1.2}));
}

TEST(SearchSection, CurvesSpanTheRunsOfAStrategyWhereTheyChange) {
  const Json curves = section_of({search("auto", {{1, 2, 200}, {10, 8, 100}}),
                                  search("auto", {{4, 3, 150}}), search("auto", {{2, 6, 300}})})
                          .at("curves");
  EXPECT_EQ(curves.at(0).at("runs"), 3);
  EXPECT_EQ(curves.at(0).at("candidates"), Json::parse(R"({"at":[1.0,2.0,4.0,10.0,300.0],
      "low":[2.0,2.0,1.5,1.0,1.0],"median":[null,3.0,2.0,1.5,1.5],"high":[null,null,3.0,3.0,3.0]})"));
  EXPECT_EQ(curves.at(0).at("seconds").at("at"), Json({2.0, 3.0, 6.0, 8.0, 90.0}));
}

TEST(SearchSection, WhatMayNotBeComparedIsLeftOutAndCounted) {
  SearchRun resumed = search("auto", {{1, 1, 100}});
  resumed.beginning = Beginning::with_results;
  SearchRun told = search("auto", {{2, 1, 101}});
  told.beginning = Beginning::with_winner;
  SearchRun old = search("auto", {{1, 1, 50}});
  old.environment.driver = "12.0";
  const Json section = section_of({old, resumed, resumed, told, search("random", {{9, 5, 102}})});
  EXPECT_EQ(section.at("left_out"), Json({2, 1, 1}));
  EXPECT_EQ(section.at("table").at("rows").size(), 1);
}

TEST(SearchSection, WithoutASuccessThereIsNothingToDraw) {
  const Json section = section_of({search("auto", {})});
  EXPECT_TRUE(section.at("best_ns").is_null());
  EXPECT_TRUE(section.at("table").at("rows").empty());
}

}  // namespace
}  // namespace tuner::report
