// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/select.hpp"

#include "tuned_database.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace tuner::select {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// The family with layouts and a leading dimension.
std::string layouts() {
  std::string text = kTilesSpace;
  const std::string dims = R"("dims": ["M", "N"])";
  return text.replace(text.find(dims), dims.size(),
                      R"("dims": ["M", "N", {"name": "TRANS", "values": [0, 1], "default": 0},
                                  {"name": "LD", "default": "TRANS ? M : N"}])");
}

class SelectTest : public TunedDatabase {
 protected:
  [[nodiscard]] Selection ask(const Question& question) const {
    return select_configuration(store, question);
  }
  [[nodiscard]] std::pair<ErrorCode, std::string> error_of(const Question& question) const {
    try {
      const Selection selection = ask(question);
      ADD_FAILURE() << "answered by the rung " << name(selection.rung);
      return {};
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
  }
};

TEST_F(SelectTest, AnswersExactlyForASizeThatWasTuned) {
  put({.problem = "1024,1024", .value = 32, .median_ns = 1500});
  put({.problem = "2048,1024", .value = 8});
  const Selection found = ask({.kernel = "tiled", .size = "1024,1024"});
  EXPECT_EQ(found.rung, Rung::exact);
  EXPECT_EQ(name(found.rung), "exact");
  EXPECT_EQ(found.config_json, R"({"TILE":32})");
  EXPECT_EQ(found.expected_ns, 1500);
  EXPECT_EQ(found.distance, 0);
  EXPECT_EQ(found.device.name, "NVIDIA H200");
  EXPECT_EQ(found.kernel->space_text, kTilesSpace);
  EXPECT_EQ(found.entry->best.problem, "1024,1024");
  EXPECT_THAT(found.explanation, Contains(HasSubstr("the only one in the database")));
  EXPECT_THAT(found.explanation, Contains("exact: tiled is chosen"));
}

TEST_F(SelectTest, WhatWasVerifiedHereReplacesWhatWasImportedOfTheSameKernelAndSize) {
  put({.problem = "1024,1024", .value = 32, .median_ns = 1500});
  store::StoredBest theirs = store.bests({}).at(0);
  theirs.best.config_json = R"({"TILE":8})";
  theirs.best.time = {.median_ns = 9, .q1_ns = 9, .q3_ns = 9, .min_ns = 9, .samples = 30};
  theirs.best.recorded_at = "2027-01-01T00:00:00Z";
  theirs.best.run_uuid = "theirs";
  store.import_bests(std::vector{theirs}, "h200.jsonl");
  theirs.best.problem = "2048,1024";
  store.import_bests(std::vector{theirs}, "h200.jsonl");
  EXPECT_EQ(ask({.kernel = "tiled", .size = "1024,1024"}).config_json, R"({"TILE":32})");
  EXPECT_EQ(ask({.kernel = "tiled", .size = "2048,1000"}).config_json, R"({"TILE":8})");
  const Selection found = ask({.kernel = "tiled", .size = "2048,1024"});
  EXPECT_EQ(found.config_json, R"({"TILE":8})");
  EXPECT_THAT(found.explanation,
              Contains(HasSubstr("imported from h200.jsonl, not yet verified on this machine")));
}

TEST_F(SelectTest, AnImportedResultOfAnotherKernelIsTakenWhereItIsTenPercentFaster) {
  put({.problem = "64,64", .value = 8});
  store::StoredBest theirs = store.bests({}).at(0);
  for (const auto& [size, time_ns] : {std::pair("1024,1024", 915.0), {"2048,1024", 905.0}}) {
    put({.kernel = "plain", .problem = size, .value = 128, .median_ns = 1000});
    theirs.best.problem = size;
    theirs.best.time = {
        .median_ns = time_ns, .q1_ns = time_ns, .q3_ns = time_ns, .min_ns = time_ns, .samples = 30};
    theirs.best.run_uuid = fmt::format("theirs at {}", size);
    store.import_bests(std::vector{theirs}, "h200.jsonl");
  }
  EXPECT_EQ(ask({.family = "tiles", .size = "1024,1024"}).config_json, R"({"BLOCK":128})");
  const Selection theirs_found = ask({.family = "tiles", .size = "2048,1024"});
  EXPECT_EQ(theirs_found.config_json, R"({"TILE":8})");
  EXPECT_THAT(theirs_found.explanation,
              Contains(HasSubstr("the fastest; imported times count as 10 % longer")));
}

TEST_F(SelectTest, AnswersForTheVerySizeFromAKernelWithoutItsSpaceFile) {
  store::Subject subject;
  subject.device = space::device_profile("h200").value();
  subject.environment = {.driver = "1", .compiler = "c", .library = "l", .tool = "t"};
  subject.kernel.family = "tiles";
  subject.kernel.kernel = "tiled";
  subject.kernel.hash = "theirs";
  store::StoredBest theirs{.subject = std::make_shared<const store::Subject>(subject), .best = {}};
  theirs.best.problem = "1024,1024";
  theirs.best.config_json = R"({"TILE":8})";
  theirs.best.time = {.median_ns = 9, .q1_ns = 9, .q3_ns = 9, .min_ns = 9, .samples = 30};
  theirs.best.run_uuid = "theirs";
  theirs.best.recorded_at = "2026-01-01T00:00:00Z";
  store.import_bests(std::vector{theirs}, "f");
  EXPECT_EQ(ask({.kernel = "tiled", .size = "1024,1024"}).rung, Rung::exact);
  const auto [code, message] = error_of({.kernel = "tiled", .size = "1000,1024"});
  EXPECT_EQ(code, ErrorCode::nothing_found);
  EXPECT_THAT(message, HasSubstr("imported without its space file"));
}

TEST_F(SelectTest, CallsAnEntryStaleWhenTheDeviceHasSinceRunAnotherDriver) {
  put({.problem = "1024,1024", .value = 32, .driver = "12.8"});
  put({.problem = "2048,2048", .value = 8, .driver = "13.0"});
  const Selection found = ask({.kernel = "tiled", .size = "1024,1024"});
  EXPECT_EQ(found.rung, Rung::stale);
  EXPECT_EQ(found.config_json, R"({"TILE":32})");
  EXPECT_EQ(found.expected_ns, 1000);
  EXPECT_THAT(found.explanation, Contains(AllOf(HasSubstr("stale: tiled is chosen"),
                                                HasSubstr("in use now: driver 13.0"))));
  EXPECT_EQ(ask({.kernel = "tiled", .size = "2048,2048"}).rung, Rung::exact);
}

TEST_F(SelectTest, GoesByTheEnvironmentOfTheQuestion) {
  put({.problem = "1024,1024", .value = 32, .driver = "13.0"});
  put({.problem = "1024,1024", .value = 8, .driver = "13.1"});
  const auto with = [&](const std::string& driver) {
    return ask(
        {.kernel = "tiled",
         .size = "1024,1024",
         .environment = space::EnvironmentInfo{
             .driver = driver, .compiler = "NVRTC 13.0", .library = "another", .tool = "9.9"}});
  };
  EXPECT_EQ(with("13.0").rung, Rung::exact);
  EXPECT_EQ(with("13.0").config_json, R"({"TILE":32})");
  EXPECT_EQ(with("13.1").rung, Rung::exact);
  EXPECT_EQ(with("13.1").config_json, R"({"TILE":8})");
  EXPECT_EQ(with("14.0").rung, Rung::stale);
  EXPECT_EQ(with("14.0").config_json, R"({"TILE":8})");  // the newest
}

TEST_F(SelectTest, TakesTheNearestSizeOfTheSameShape) {
  put({.problem = "1048576,1", .value = 64, .median_ns = 10});  // the same volume as asked
  put({.problem = "512,1024", .value = 32});
  put({.problem = "128,128", .value = 8});
  const Selection found = ask({.kernel = "tiled", .size = "1024,1024"});
  EXPECT_EQ(found.rung, Rung::nearest);
  EXPECT_EQ(found.config_json, R"({"TILE":32})");
  EXPECT_DOUBLE_EQ(found.distance, std::log(2.0));
  EXPECT_EQ(found.expected_ns, std::nullopt);
  EXPECT_THAT(found.explanation, Contains("exact: no result of tiled at 1024,1024"));
  EXPECT_THAT(found.explanation, Contains("stale: no older result of tiled at 1024,1024"));
  EXPECT_THAT(found.explanation,
              Contains("nearest: tiled at 512,1024, at a distance of ×2: valid here"));
}

TEST_F(SelectTest, PassesOverANeighbourThatIsInvalidAtTheSizeAndSaysWhy) {
  put({.problem = "1024,1024", .value = 64});
  put({.problem = "256,256", .value = 8});
  const Selection found = ask({.kernel = "tiled", .size = "1000,1000"});  // 1000 % 64 != 0
  EXPECT_EQ(found.rung, Rung::nearest);
  EXPECT_EQ(found.config_json, R"({"TILE":8})");
  EXPECT_DOUBLE_EQ(found.distance, std::log(1000.0 / 256));
  EXPECT_THAT(found.explanation,
              Contains(AllOf(HasSubstr("nearest: tiled at 1024,1024"), HasSubstr("rejected"),
                             HasSubstr("only whole tiles"))));
}

TEST_F(SelectTest, PassesOverAConfigurationThatTheSpaceNoLongerHas) {
  put({.problem = "1024,1024", .value = 24});
  const Selection found = ask({.kernel = "tiled", .size = "2048,2048"});
  EXPECT_EQ(found.rung, Rung::default_config);
  EXPECT_THAT(found.explanation, Contains(AllOf(HasSubstr("1024,1024"), HasSubstr("rejected"))));
}

TEST_F(SelectTest, FallsBackToTheDefaultConfiguration) {
  put({.problem = "1024,1024", .value = 64, .device = "h200"});
  put({.problem = "1024,1024", .value = 32, .device = "a100"});
  put({.kernel = "plain", .problem = "1024,1024", .value = 128, .device = "a100"});
  const Selection found = ask({.device = "NVIDIA H200", .kernel = "plain", .size = "1024,1024"});
  EXPECT_EQ(found.rung, Rung::default_config);
  EXPECT_EQ(name(found.rung), "default");
  EXPECT_EQ(found.config_json, R"({"BLOCK":64})");
  EXPECT_EQ(found.entry, std::nullopt);
  EXPECT_EQ(found.expected_ns, std::nullopt);
  EXPECT_EQ(found.device.name, "NVIDIA H200");
  EXPECT_THAT(found.explanation, Contains("nearest: no result of plain on this device"));
}

TEST_F(SelectTest, SaysAllItLookedAtWhenNothingIsValid) {
  put({.problem = "1024,1024", .value = 64});
  const auto [code, message] = error_of({.kernel = "tiled", .size = "7,7"});
  EXPECT_EQ(code, ErrorCode::nothing_found);
  EXPECT_THAT(
      message,
      AllOf(HasSubstr("tiled at 7,7 on NVIDIA H200"), HasSubstr("nearest: tiled at 1024,1024"),
            HasSubstr("default: that of tiled is rejected"), HasSubstr("only whole tiles")));
}

TEST_F(SelectTest, NeverAnswersWithAnotherDevicesEntry) {
  put({.problem = "1024,1024", .value = 64, .median_ns = 10, .device = "h100"});
  put({.problem = "64,64", .value = 8, .median_ns = 5000, .device = "h200"});
  EXPECT_EQ(ask({.device = "NVIDIA H200", .kernel = "tiled", .size = "1024,1024"}).config_json,
            R"({"TILE":8})");
  EXPECT_EQ(ask({.kernel = "tiled", .size = "1024,1024"}).config_json,
            R"({"TILE":8})");  // the device used last
  EXPECT_EQ(ask({.device = space::device_profile("h100")->name, .kernel = "tiled", .size = "64,64"})
                .device.name,
            space::device_profile("h100")->name);
}

TEST_F(SelectTest, PutsNoEntryOfAnOlderSourceIntoAnAnswer) {
  put({.problem = "1024,1024", .value = 64, .hash = "old"});
  put({.problem = "512,512", .value = 8, .hash = "new"});
  const Selection found = ask({.kernel = "tiled", .size = "1024,1024"});
  EXPECT_EQ(found.rung, Rung::nearest);
  EXPECT_EQ(found.config_json, R"({"TILE":8})");
  EXPECT_EQ(found.kernel->hash, "new");
  EXPECT_THAT(found.explanation,
              Contains(AllOf(HasSubstr("tiled has changed since"), HasSubstr("(1) are not used"))));
}

TEST_F(SelectTest, TakesTheFastestKernelOfAFamilyAtTheSize) {
  put({.kernel = "tiled", .problem = "1024,1024", .value = 64, .median_ns = 900});
  put({.kernel = "plain", .problem = "1024,1024", .value = 32, .median_ns = 1000});
  const Selection found = ask({.family = "tiles", .size = "1024,1024"});
  EXPECT_EQ(found.rung, Rung::exact);
  EXPECT_EQ(found.kernel->kernel, "tiled");
  EXPECT_THAT(found.explanation, Contains("exact: tiled is chosen, the fastest"));
  EXPECT_THAT(found.explanation, Contains(HasSubstr("plain takes 1.000 µs")));
  EXPECT_EQ(ask({.kernel = "plain", .family = "tiles", .size = "1024,1024"}).kernel->kernel,
            "plain");
}

TEST_F(SelectTest, ComparesKernelsBackToBackWhereAllWereTimedSo) {
  const auto put_both = [&](const std::string& problem, std::optional<double> of_tiled_ns) {
    put({.problem = problem, .value = 64, .median_ns = 900, .back_to_back_ns = of_tiled_ns});
    put({.kernel = "plain", .problem = problem, .value = 32, .back_to_back_ns = 700});
  };
  put_both("1024,1024", 800);
  const Selection found = ask({.family = "tiles", .size = "1024,1024"});
  EXPECT_EQ(found.kernel->kernel, "plain");
  EXPECT_THAT(found.explanation,
              Contains(HasSubstr("plain takes 700.0 ns back to back, 1.000 µs cold at")));
  put_both("512,512", std::nullopt);
  EXPECT_EQ(ask({.family = "tiles", .size = "512,512"}).kernel->kernel, "tiled");
}

TEST_F(SelectTest, ComparesKernelsAtTheNearestSizeByTheirRatioToTheLibrary) {
  put({.kernel = "tiled", .problem = "1024,1024", .median_ns = 500, .ratio_to_library = 0.8});
  put({.kernel = "plain",
       .problem = "1024,1024",
       .value = 32,
       .median_ns = 900,
       .ratio_to_library = 0.9});
  EXPECT_EQ(ask({.family = "tiles", .size = "1040,1024"}).kernel->kernel, "plain");
}

TEST_F(SelectTest, ComparesKernelsByThroughputWhereTheLibraryWasNotTimed) {
  put({.kernel = "tiled", .problem = "1024,1024", .median_ns = 500});
  put({.kernel = "plain",
       .problem = "1024,1024",
       .value = 32,
       .median_ns = 900,
       .ratio_to_library = 0.9});
  const Selection found = ask({.family = "tiles", .size = "1040,1024"});
  EXPECT_EQ(found.kernel->kernel, "tiled");
  EXPECT_THAT(found.explanation, Contains(HasSubstr("best throughput")));
}

TEST_F(SelectTest, LetsNoKernelTunedFarAwayCompeteWithANearOne) {
  put({.kernel = "tiled", .problem = "1024,1024", .ratio_to_library = 0.7});
  put({.kernel = "plain", .problem = "16,16", .value = 32, .ratio_to_library = 3.0});
  EXPECT_EQ(ask({.family = "tiles", .size = "1040,1024"}).kernel->kernel, "tiled");
}

TEST_F(SelectTest, AnswersAFamilyByTheDefaultOfItsFirstValidKernel) {
  put({.kernel = "tiled", .problem = "1024,1024", .value = 64, .device = "h100"});
  put({.kernel = "plain", .problem = "1024,1024", .value = 32, .device = "h100"});
  put({.kernel = "tiled", .problem = "1024,1024", .value = 24, .device = "h200"});
  const Selection found = ask({.device = "NVIDIA H200", .family = "tiles", .size = "512,512"});
  EXPECT_EQ(found.rung, Rung::default_config);
  EXPECT_EQ(found.kernel->kernel, "plain");  // first in the space file
}

TEST_F(SelectTest, KeepsToTheSizeWhenThePolicyIsExact) {
  put({.problem = "1024,1024", .driver = "12.8"});
  put({.problem = "64,64"});
  EXPECT_EQ(ask({.kernel = "tiled", .size = "64,64", .policy = Policy::exact}).rung, Rung::exact);
  EXPECT_EQ(ask({.kernel = "tiled", .size = "1024,1024", .policy = Policy::exact}).rung,
            Rung::stale);
  const auto [code, message] =
      error_of({.kernel = "tiled", .size = "512,512", .policy = Policy::exact});
  EXPECT_EQ(code, ErrorCode::nothing_found);
  EXPECT_THAT(message, Not(HasSubstr("nearest:")));
}

TEST_F(SelectTest, SuggestsNamesForUnknownOnes) {
  put({.problem = "1024,1024"});
  const auto expect = [&](const Question& question, const std::string& text) {
    const auto [code, message] = error_of(question);
    EXPECT_EQ(code, ErrorCode::nothing_found);
    EXPECT_THAT(message, HasSubstr(text));
  };
  expect({.device = "NVIDIA H20", .kernel = "tiled", .size = "1,1"},
         "device 'NVIDIA H20' (did you mean 'NVIDIA H200'?)");
  expect({.kernel = "tield", .size = "1,1"}, "kernel 'tield' (did you mean 'tiled'?)");
  expect({.family = "tile", .size = "1,1"}, "family 'tile' (did you mean 'tiles'?)");
  expect({.kernel = "no", .family = "tiles", .size = "1,1"}, "kernel 'no' (known: tiled)");
}

TEST_F(SelectTest, RefusesQuestionsThatCannotBeAnswered) {
  put({.problem = "1024,1024"});
  EXPECT_EQ(error_of({.size = "1,1"}).first, ErrorCode::usage);
  EXPECT_EQ(error_of({.kernel = "tiled", .size = "1024"}).first, ErrorCode::usage);
  EXPECT_THAT(error_of({.kernel = "tiled", .size = "1,2,3"}).second,
              AllOf(HasSubstr("1,2,3"), HasSubstr("3 numbers"), HasSubstr("M,N")));
  EXPECT_EQ(error_of({.kernel = "tiled", .size = "0,1"}).first, ErrorCode::usage);
}

TEST_F(SelectTest, WritesASizeInOneWayOnly) {
  put({.problem = "1024,512", .value = 32, .space = layouts()});
  for (const char* size : {"1024,512", "1024x512", "N=512,M=1024", "1024,512,LD=512,TRANS=0"}) {
    const Selection found = ask({.kernel = "tiled", .size = size});
    EXPECT_EQ(found.rung, Rung::exact) << size;
    EXPECT_EQ(found.size_text, "1024,512") << size;
    EXPECT_EQ(found.size, (space::Size{1024, 512, 0, 512})) << size;
  }
  EXPECT_EQ(ask({.kernel = "tiled", .size = "1024,512,LD=520"}).rung, Rung::nearest);
  EXPECT_THAT(error_of({.kernel = "tiled", .size = "1024,512,TRANS=2"}).second,
              HasSubstr("TRANS = 2 is none of 0, 1"));
  EXPECT_THAT(error_of({.kernel = "tiled", .size = "1024,512,TRAN=1"}).second,
              HasSubstr("no dimension is named \"TRAN\" (did you mean 'TRANS'?)"));
}

TEST_F(SelectTest, AnswersForNoKindOfProblemFromAnother) {
  put({.problem = "1024,1024", .value = 32, .space = layouts()});
  const Selection untuned = ask({.kernel = "tiled", .size = "1024,1024,TRANS=1"});
  EXPECT_EQ(untuned.rung, Rung::default_config);
  EXPECT_THAT(untuned.explanation,
              Contains("nearest: no result of tiled on this device for this kind of problem"));
  put({.problem = "64,64,TRANS=1", .value = 8, .space = layouts()});
  const Selection found = ask({.kernel = "tiled", .size = "1024,1024,TRANS=1"});
  EXPECT_EQ(found.rung, Rung::nearest);
  EXPECT_EQ(found.config_json, R"({"TILE":8})");
  EXPECT_DOUBLE_EQ(found.distance, std::log(16.0)) << "LD follows from the others";
}

TEST_F(SelectTest, AsksForTheFamilyWhenAKernelIsInTwo) {
  put({.problem = "1024,1024"});
  store::Subject other = *store.bests({}).front().subject;
  other.kernel.family = "bricks";
  store::RunRecord run;
  run.uuid = "x";
  const std::int64_t id = store.begin_run(other, run);
  EXPECT_EQ(ask({.kernel = "tiled", .size = "1024,1024"}).rung, Rung::exact)
      << "of the family that has a result";
  store::BestRecord best;
  best.problem = "1024,1024";
  best.config_json = R"({"TILE":16})";
  best.time = {.median_ns = 10, .q1_ns = 10, .q3_ns = 10, .min_ns = 10, .samples = 30};
  store::record_lone_final(store, id, best);
  EXPECT_THAT(error_of({.kernel = "tiled", .size = "1024,1024"}).second,
              AllOf(HasSubstr("bricks and tiles"), HasSubstr("--family")));
  EXPECT_EQ(ask({.kernel = "tiled", .family = "tiles", .size = "1024,1024"}).rung, Rung::exact);
}

TEST_F(SelectTest, FindsNothingInAnEmptyDatabase) {
  const auto [code, message] = error_of({.kernel = "tiled", .size = "1,1"});
  EXPECT_EQ(code, ErrorCode::nothing_found);
  EXPECT_THAT(message, HasSubstr("run `tune`"));
}

}  // namespace
}  // namespace tuner::select
