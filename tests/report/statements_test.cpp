// SPDX-License-Identifier: Apache-2.0
// The facts of databases of which an earlier page said something wrong.
#include "trial_database.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tuner::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// ---- the chosen and the fastest -----------------------------------------------------------------

TEST(Statements, TheChosenAndTheFastestAreToldApartWithTheRuleThatChose) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.3e3, Outcome::ok, 128);
  database.add_trial(2, 0, 100e3, Outcome::ok, 96);
  database.add_final({Database::finalist("candidate", 1, 99.3e3, 0.993, 0.991, 0.995),
                      Database::finalist("candidate", 2, 100e3, 1, 1, 1),
                      Database::finalist("candidate", 3, 103e3, 1.03, 1.02, 1.04)},
                     1);
  const Json section = database.section("finalists");
  EXPECT_EQ(section.at("rule"), Json::parse(R"({"by": "registers", "numbers": [96, 128]})"));
  EXPECT_EQ(section.at("repetitions"), 30);
  EXPECT_EQ(section.at("ties"), 1);
  EXPECT_EQ(section.at("table").at("rows").at(0).at(1), "fastest");
  EXPECT_EQ(section.at("table").at("rows").at(1).at(1), "chosen");
}

TEST(Statements, AllPartsOfASizeRankByTheTimeBackToBack) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3, Outcome::ok, 64, kProblem, 90e3);
  database.add_trial(2, 0, 98e3, Outcome::ok, 64, kProblem, 95e3);  // faster alone
  database.add_trial(3, 0, 200e3);                                  // too slow for a series
  store::FinalistRecord winner = Database::finalist("candidate", 1, 101e3, 1, 1, 1);
  winner.sustained_ns = 88e3;
  database.add_final({winner}, 0, 0.5);
  const Json document = database.document();
  const Json& kernel = document.at("kernels").at(0);
  const Json& size = kernel.at("sizes").at(0);
  const auto rows = [](const Json& sections, const char* kind) {
    for (const Json& one : sections) {
      if (one.at("kind") == kind) return one.at("table").at("rows");
    }
    return Json();
  };
  const Json& trials = size.at("trials");
  EXPECT_EQ(trials.at("measure"), "back to back");
  EXPECT_EQ(trials.at("ns"), Json({90e3, 95e3, 180e3}));
  EXPECT_EQ(trials.at("cold_ns"), Json({100e3, 98e3, 200e3}));
  const Json steps = rows(size.at("sections"), "convergence");
  ASSERT_EQ(steps.size(), 1U) << "the second is slower back to back";
  EXPECT_EQ(steps.at(0).at(4), 90e3);
  EXPECT_EQ(rows(size.at("sections"), "distribution").at(0).at(0), 90e3);
  const Json marks = database.section("convergence").at("marks");
  EXPECT_EQ(marks.at(0).at("ns"), 88e3);
  EXPECT_EQ(marks.at(1).at("ns"), 44e3) << "the library's, by the ratio";
  EXPECT_NEAR(rows(kernel.at("sections"), "performance").at(0).at(3).get<double>(),
              2e9 / 88e3 / 1e3, 1e-2);
}

TEST(Statements, TheGainOverADefaultThatIsTooSlowForASeriesIsSaidToBeCold) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3, Outcome::ok, 64, kProblem, 90e3);
  store::FinalistRecord winner = Database::finalist("candidate", 1, 100e3, 1, 1, 1);
  winner.sustained_ns = 90e3;
  store::FinalistRecord library = Database::finalist("library", 0, 130e3, 1.1, 1.09, 1.11);
  library.sustained_ns = 99e3;
  database.add_final({winner, library, Database::finalist("default", 2, 250e3, 2.49, 2.4, 2.6)}, 0,
                     1.1);
  const Json document = database.document();
  const Json& sizes = document.at("families").at(0).at("sizes");
  const auto column = std::ranges::find(sizes.at("columns"), "default",
                                        [](const Json& one) { return one.at("key"); });
  EXPECT_EQ(column->at("label"), "× default, cold");
  const auto at = static_cast<std::size_t>(column - sizes.at("columns").begin());
  EXPECT_EQ(sizes.at("rows").at(0).at(at), 2.5) << "of the medians of single launches";
  const Json& result = document.at("kernels").at(0).at("sizes").at(0).at("result");
  EXPECT_EQ(result.at("ratio"), 1.1);
  EXPECT_EQ(result.at("gain"), 2.5);
  EXPECT_EQ(result.at("measure"), "back to back") << "the gain is cold nevertheless";
  EXPECT_EQ(database.section("finalists").at("measure"), "back to back") << "of the chart's axis";
  const Json finalists = database.section("finalists").at("table");
  const auto measure = std::ranges::find(finalists.at("columns"), "measure",
                                         [](const Json& one) { return one.at("key"); });
  std::vector<std::string> measures;
  for (const Json& row : finalists.at("rows")) {
    measures.push_back(row.at(static_cast<std::size_t>(measure - finalists.at("columns").begin())));
  }
  EXPECT_THAT(measures, testing::ElementsAre("back to back", "back to back", "cold"));
}

TEST(Statements, ContendersThatWereTimedInSingleLaunchesAloneAreComparedByThese) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3, Outcome::ok, 64, kProblem, 90e3);
  store::FinalistRecord winner = Database::finalist("candidate", 1, 100e3, 1, 1, 1);
  winner.sustained_ns = 90e3;  // nobody was near it, so no other series was run
  database.add_final({winner, Database::finalist("default", 2, 140e3, 1.4, 1.39, 1.41)}, 0);
  const Json section = database.section("finalists");
  EXPECT_EQ(section.at("measure"), "cold");
  EXPECT_THAT(section.at("table").at("columns").dump(), testing::Not(HasSubstr("Compared")));
}

TEST(Statements, AKernelOnTheHostHasNoNumberOfRegisters) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3, Outcome::ok, 0);
  database.add_final({Database::finalist("candidate", 1, 100e3, 1, 1, 1)}, 0);
  const Json table = database.section("finalists").at("table");
  for (std::size_t i = 0; i < table.at("columns").size(); ++i) {
    const std::string key = table.at("columns").at(i).at("key");
    if (key != "registers" && key != "local_bytes") continue;
    EXPECT_TRUE(table.at("rows").at(0).at(i).is_null()) << key;
  }
}

TEST(Statements, SayWhichCardWonASizeOfARunThatHadSeveral) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3, Outcome::ok, 128);
  database.add_card(kProblem, "GPU-1");
  database.add_card(kProblem, "GPU-2");
  database.add_final({Database::finalist("candidate", 1, 100e3, 1, 1, 1)}, 0);
  EXPECT_EQ(database.section("finalists").at("card"), "");
  database.add_card("4096,4096,4096", "GPU-3");
  EXPECT_EQ(database.section("finalists").at("card"), "GPU-2");
}

TEST(Statements, AnExplanationSaysTheBoundTheRooflineAndTheCostliestChange) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3);
  database.add_trial(2, 0, 121e3);
  database.add_final({Database::finalist("candidate", 1, 100e3, 1, 1, 1)}, 0);
  counters::Counters counted{.fma_percent = 62, .l1_percent = 91};
  counted.shared_loads = 100;
  counted.l1_wavefronts = counted.shared_wavefronts = 100;
  counters::Counters conflicts = counted;
  conflicts.bank_conflicts = 230;
  store::ExplanationRecord explanation{
      .problem = kProblem,
      .peak_flops_per_s = 40e12,
      .peak_bytes_per_s = 4.8e12,
      .contenders = {
          {.role = "best",
           .config_json = Database::config(1, 0),
           .timed = store::ComparedTime{.median_ns = 100e3},
           .profile = {.counters = counted}},
          {.role = "neighbour",
           .config_json = Database::config(2, 0),
           .parameter = "A",
           .timed =
               store::ComparedTime{
                   .median_ns = 121e3, .ratio_to_best = 1.21, .ratio_low = 1.2, .ratio_high = 1.22},
           .profile = {.counters = conflicts}}}};
  database.add_explanation(explanation);
  const Json section = database.section("explanation");
  EXPECT_EQ(section.at("answer"),
            "Limiter: shared-memory bandwidth: 91 % of its peak; FMA pipe 62 %. Roofline: 667 "
            "FLOP/byte, compute side: 20.0 TFLOP/s, 50 % of the nominal 40.0 TFLOP/s. A 1 → 2: "
            "+21.0\u00a0%; 2.3 bank conflicts a request instead of 0.0.");
  EXPECT_EQ(section.at("table").at("rows").size(), 2U);
  const Json& roofline = section.at("roofline");
  EXPECT_EQ(roofline.at("peak_gflops"), 40e3);
  EXPECT_EQ(roofline.at("peak_gbytes"), 4.8e3);
  EXPECT_NEAR(roofline.at("flops").get<double>() / roofline.at("bytes").get<double>(), 667, 0.5);

  explanation.peak_bytes_per_s.reset();
  database.add_explanation(explanation);
  EXPECT_TRUE(database.section("explanation").at("roofline").is_null());
  explanation.contenders.front().config_json = Database::config(2, 0);
  database.add_explanation(explanation);
  EXPECT_TRUE(database.section("explanation").is_null()) << "it is of another best";
}

TEST(Statements, LessEnergyIsChosenForThat) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.5e3);
  database.add_trial(2, 0, 100e3);
  auto fastest = Database::finalist("candidate", 1, 99.5e3, 0.998, 0.99, 1.003);
  auto frugal = Database::finalist("incumbent", 2, 100e3, 1, 1, 1);
  const auto energy = [](double joules) {
    return EnergySummary{.joules = joules,
                         .min_joules = 0.99 * joules,
                         .max_joules = 1.01 * joules,
                         .windows = 3,
                         .watts = 600};
  };
  fastest.energy = energy(0.07);
  frugal.energy = energy(0.06);
  database.add_final({fastest, frugal}, 1);
  EXPECT_EQ(database.section("finalists").at("rule"),
            Json::parse(R"({"by": "energy", "numbers": [0.06, 0.07]})"));
  const Json overview = database.document().at("kernels").at(0).at("sections");
  const Json& section = overview.back();
  EXPECT_EQ(section.at("kind"), "energy");
  for (const Json& row : section.at("table").at("rows")) EXPECT_EQ(row.at(4), "yes");
}

TEST(Statements, WhatWasBestBeforeIsChosenForThat) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.5e3);
  database.add_trial(2, 0, 100e3);
  database.add_final({Database::finalist("candidate", 1, 99.5e3, 0.998, 0.99, 1.003),
                      Database::finalist("incumbent", 2, 100e3, 1, 1, 1)},
                     1);
  EXPECT_EQ(database.section("finalists").at("rule"), Json::parse(R"({"by": "incumbent"})"));
}

TEST(Statements, TheDefaultIsChosenForThat) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 99.5e3);
  database.add_trial(2, 0, 100e3);
  database.add_final({Database::finalist("candidate", 1, 99.5e3, 0.998, 0.99, 1.003),
                      Database::finalist("default", 2, 100e3, 1, 1, 1)},
                     1);
  EXPECT_EQ(database.section("finalists").at("rule"), Json::parse(R"({"by": "default"})"));
}

TEST(Statements, AWinnerThatIsTheFastestNeededNoRule) {
  Database database;
  database.begin_run("aaaaaaaa");
  database.add_trial(1, 0, 100e3);
  database.add_final({Database::finalist("library", 0, 90e3, 0.9, 0.89, 0.91),
                      Database::finalist("candidate", 1, 100e3, 1, 1, 1),
                      Database::finalist("default", 2, 150e3, 1.5, 1.49, 1.52)},
                     0);
  const Json section = database.section("finalists");
  EXPECT_TRUE(section.at("rule").is_null());
  EXPECT_EQ(section.at("table").at("rows").at(0).at(1), "library");
  EXPECT_EQ(section.at("table").at("rows").at(1).at(1), "chosen, best of ours");
}

// ---- outcomes -----------------------------------------------------------------------------------

TEST(Statements, EveryOutcomeIsCountedAmongTheFailures) {
  Database database;
  database.begin_run("aaaaaaaa");
  int a = 0;
  for (const Outcome outcome : kOutcomes) {
    if (outcome == Outcome::ok) continue;
    database.add_trial(++a, 0, {}, outcome);
  }
  const Json kernel = database.document().at("kernels").at(0);
  for (const Json& section : kernel.at("sections")) {
    if (section.at("kind") != "failures") continue;
    EXPECT_EQ(section.at("table").at("rows").size(), kOutcomes.size() - 1);
    EXPECT_EQ(section.at("tried"), 11);
  }
}

// ---- convergence --------------------------------------------------------------------------------

TEST(Statements, ConvergenceIsCountedInTheTrialsOfEachRun) {
  Database database;
  database.begin_run("aaaaaaaa");
  for (int i = 0; i < 100; ++i) database.add_trial(i, 0, 200e3);
  database.begin_run("bbbbbbbb");
  for (int i = 0; i < 40; ++i) database.add_trial(i, 1, i == 9 ? 100e3 : 150e3);
  const Json section = database.section("convergence");
  EXPECT_EQ(section.at("runs").at(0).at("trials"), 100);
  EXPECT_EQ(section.at("runs").at(1).at("trials"), 40);
  EXPECT_EQ(section.at("runs").at(1).at("elapsed_s"), 39.0);
  const Json& found = section.at("table").at("rows").back();
  EXPECT_EQ(Json(found.begin(), found.begin() + 5), Json({"bbbbbbbb", "auto", 10, 9.0, 100e3}));
}

TEST(Statements, ASearchThatImprovedAtItsEndIsSaidToBeUnfinished) {
  Database database;
  database.begin_run("aaaaaaaa");
  for (int i = 0; i < 50; ++i) database.add_trial(i, 0, i < 45 ? 200e3 : 150e3);
  const Json section = database.section("convergence");
  EXPECT_EQ(section.at("runs").at(0).at("state"), "improving");
}

// ---- importance ---------------------------------------------------------------------------------

TEST(Statements, NoImportanceIsClaimedFromFewTrials) {
  Database database;
  database.begin_run("aaaaaaaa");
  for (int i = 0; i < 29; ++i) database.add_trial(i % 4, i, 100e3 * (1 + i % 4));
  EXPECT_EQ(database.section("importance").at("trials"), 29);
  EXPECT_THAT(database.section("importance").at("table").at("rows"), IsEmpty());
  EXPECT_THAT(database.section("heatmap").at("pairs"), IsEmpty());
  database.add_trial(1, 29, 200e3);
  const Json first = database.section("importance").at("table").at("rows").at(0);
  EXPECT_EQ(Json(first.begin(), first.begin() + 2), Json({"A", 1.0}));
}

}  // namespace
}  // namespace tuner::report
