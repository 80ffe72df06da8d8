// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/rank.hpp"

#include "tuned_database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/nearest.hpp"
#include "tuner/select/select.hpp"

#include <gmock/gmock.h>

namespace tuner::select {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// With a launch, which a cost model needs.
std::string with_library_and_launch() {
  std::string text = tiles_with_library();
  const std::string before = R"("legal block"} ])";
  return text.insert(
      text.find(before) + before.size(),
      R"(, "entry": "tiled<${TILE}>", "launch": {"grid": ["M//TILE", "N"], "block": ["TILE"]})");
}

/// With a bias, beside which large tiles are not valid.
std::string with_bias() {
  std::string text = tiles_with_library();
  const auto replace = [&](std::string_view old, std::string_view with) {
    text.replace(text.find(old), old.size(), with);
  };
  replace(R"("dims": ["M", "N"])",
          R"("dims": ["M", "N", {"name": "BIAS", "values": [0, 1], "default": 0}])");
  replace(R"({"expr": "TILE * 16)", R"({"expr": "BIAS == 0 or TILE < 64", "why": "registers"},
                       {"expr": "TILE * 16)");
  replace(R"({"name": "C",)", R"({"name": "bias", "type": "float*", "count": "N"},
                   {"name": "C",)");
  replace(R"("c": "C"})", R"("c": "C",
                            "epilogue": {"bias": "bias", "bias_kind": "BIAS"}})");
  return text;
}

class RankTest : public TunedDatabase {
 protected:
  [[nodiscard]] Ranking ask(const std::string& size, Policy policy = Policy::nearest) const {
    return rank(catalogue(store, {}), {.family = "tiles", .size = size, .policy = policy});
  }
  [[nodiscard]] std::vector<std::string> answers(const std::string& size,
                                                 Policy policy = Policy::nearest) const {
    std::vector<std::string> result;
    for (const Selection& it : ask(size, policy).answers) {
      result.push_back(fmt::format("{} {}", name(it.rung), it.config_json));
    }
    return result;
  }
};

TEST_F(RankTest, GivesEveryAcceptableAnswerFromTheBestToTheLastResort) {
  put({.problem = "1024,1024", .value = 32, .median_ns = 900});
  put({.kernel = "plain", .problem = "1024,1024", .value = 128, .median_ns = 800});
  put({.problem = "64,64", .value = 8});
  EXPECT_THAT(answers("1024,1024"),
              ElementsAre(R"(exact {"BLOCK":128})", R"(exact {"TILE":32})", R"(nearest {"TILE":8})",
                          R"(default {"BLOCK":64})"));
  EXPECT_THAT(answers("1024,1024", Policy::exact),
              ElementsAre(R"(exact {"BLOCK":128})", R"(exact {"TILE":32})"));
}

TEST_F(RankTest, AnswersWhereABiasFollowsAsForTheProductAlone) {
  const std::string space = with_bias();
  put({.problem = "512,512", .value = 64, .ratio_to_library = 1.5, .space = space});
  put({.problem = "1024,1024", .value = 32, .ratio_to_library = 1.5, .space = space});
  const Ranking with_bias = ask("1024,1024,BIAS=1");
  EXPECT_EQ(with_bias.product_alone, "1024,1024");
  EXPECT_THAT(answers("1024,1024,BIAS=1"),
              ElementsAre(R"(nearest {"TILE":32})", "library ", R"(default {"TILE":16})"));
  EXPECT_EQ(with_bias.answers.front().size_text, "1024,1024,BIAS=1");
  EXPECT_EQ(with_bias.answers.front().expected_ns, 1000);
  EXPECT_EQ(with_bias.answers.at(1).expected_ns, 1500);
  EXPECT_THAT(with_bias.explanation, Contains(HasSubstr("as for the product alone, 1024,1024")));

  put({.problem = "512,512,BIAS=1", .value = 16, .ratio_to_library = 1.5, .space = space});
  EXPECT_EQ(ask("1024,1024,BIAS=1").product_alone, "") << "a result with a bias stands before";
}

TEST_F(RankTest, LeavesOutWhatIsNotValidAtTheSize) {
  put({.problem = "1024,1024", .value = 64});
  put({.problem = "512,512", .value = 24});
  EXPECT_THAT(answers("1000,7"), IsEmpty());
}

TEST_F(RankTest, WhatVerificationRefusedAnswersForNoOtherSize) {
  put({.problem = "64,64", .value = 8});
  put({.problem = "128,64", .value = 8, .outcome = Outcome::wrong_result});
  EXPECT_THAT(answers("64,64"), ElementsAre(R"(exact {"TILE":8})", R"(default {"TILE":16})"));
  EXPECT_THAT(answers("128,64"), ElementsAre(R"(default {"TILE":16})"));
  EXPECT_THAT(answers("256,64"), ElementsAre(R"(default {"TILE":16})"));
  for (const Outcome outcome : {Outcome::launch_error, Outcome::out_of_bounds}) {
    put({.problem = "128,64", .value = 16, .outcome = outcome});
    EXPECT_EQ(answers("256,64").empty(), outcome == Outcome::out_of_bounds) << name(outcome);
  }
}

TEST_F(RankTest, ADefaultThatCrashedOrHungIsNoAnswer) {
  for (const Outcome outcome : {Outcome::crashed, Outcome::timeout, Outcome::quarantined}) {
    put({.problem = "128,64", .value = 16, .outcome = outcome});
    EXPECT_THAT(answers("256,64"), IsEmpty()) << name(outcome);
  }
  put({.problem = "128,64", .value = 16});
  EXPECT_THAT(answers("256,64"), Contains(R"(default {"TILE":16})"));
}

TEST_F(RankTest, WhatDidNotRunAtASizeIsNoAnswerThere) {
  put({.problem = "64,64", .value = 8});
  for (const Outcome outcome : {Outcome::compile_error, Outcome::launch_error, Outcome::crashed}) {
    put({.problem = "128,64", .value = 8, .outcome = outcome});
    put({.problem = "128,64", .value = 16, .outcome = Outcome::launch_error});
    EXPECT_THAT(answers("128,64"), IsEmpty()) << name(outcome);
    EXPECT_THAT(ask("128,64").explanation,
                Contains(HasSubstr(fmt::format("its trial at 128,64 ended as {}", name(outcome)))));
    EXPECT_THAT(answers("256,64"), ElementsAre(R"(nearest {"TILE":8})", R"(default {"TILE":16})"));
    const Catalogue read = parse_catalogue(catalogue_json(catalogue(store, {})), "test");
    EXPECT_THAT(rank(read, {.family = "tiles", .size = "128,64"}).answers, IsEmpty());
  }
  for (const Outcome outcome : {Outcome::unstable, Outcome::ok}) {
    put({.problem = "128,64", .value = 8, .outcome = outcome});
    EXPECT_THAT(answers("128,64"), ElementsAre(R"(nearest {"TILE":8})")) << name(outcome);
  }
}

TEST_F(RankTest, ARefusedDefaultIsNamedWithItsTrial) {
  put({.problem = "128,64", .value = 16, .outcome = Outcome::wrong_result});
  EXPECT_THAT(answers("128,64"), IsEmpty());
  EXPECT_THAT(
      ask("256,64").explanation,
      Contains("default: that of tiled is rejected: its trial at 128,64 ended as wrong_result"));
  const Catalogue read = parse_catalogue(catalogue_json(catalogue(store, {})), "test");
  EXPECT_THAT(rank(read, {.family = "tiles", .size = "256,64"}).answers, IsEmpty());
}

TEST_F(RankTest, PutsTheLibraryFirstWhereItWasFasterInTheFinal) {
  put({.problem = "64,64", .value = 8, .ratio_to_library = 0.9, .space = tiles_with_library()});
  const Ranking ranking = ask("64,64");
  const Selection& library = ranking.answers.at(0);
  EXPECT_EQ(library.rung, Rung::library);
  EXPECT_EQ(library.kernel, nullptr);
  EXPECT_EQ(library.expected_ns, 900);
  EXPECT_EQ(library.size, (space::Size{64, 64}));
  EXPECT_EQ(ranking.answers.at(1).rung, Rung::exact);
}

TEST_F(RankTest, AConfigurationThatIsSelectedTellsWhetherTheLibraryIsBeforeIt) {
  put({.problem = "64,64", .value = 8, .ratio_to_library = 0.9, .space = tiles_with_library()});
  put({.problem = "32,32", .value = 8, .ratio_to_library = 1.1, .space = tiles_with_library()});
  const Catalogue known = catalogue(store, {});
  const Selection slower = select_configuration(known, {.family = "tiles", .size = "64,64"});
  EXPECT_TRUE(slower.library_is_first);
  EXPECT_EQ(slower.explanation.back(),
            "library: chosen before the kernel: it takes 0.9 times as long in the final round");
  EXPECT_FALSE(select_configuration(known, {.family = "tiles", .size = "32,32"}).library_is_first);
}

TEST_F(RankTest, PutsTheLibraryBehindAKernelThatWasFasterAndBeforeTheDefault) {
  put({.problem = "64,64", .value = 8, .ratio_to_library = 1.1, .space = tiles_with_library()});
  EXPECT_THAT(answers("64,64"),
              ElementsAre(R"(exact {"TILE":8})", "library ", R"(default {"TILE":16})"));
}

TEST_F(RankTest, PutsTheLibrarysFastestAlgorithmFirstWhereItWasFasterInTheFinal) {
  put({.problem = "64,64",
       .value = 8,
       .ratio_to_library = 1.1,
       .space = tiles_with_library(),
       .ratio_to_library_tuned = 0.9});
  EXPECT_THAT(answers("64,64"), ElementsAre("library_tuned ", R"(exact {"TILE":8})", "library ",
                                            R"(default {"TILE":16})"));
  const Selection tuned = ask("64,64").answers.front();
  EXPECT_EQ(tuned.library_algorithm, "fast");
  EXPECT_EQ(tuned.expected_ns, 900);
  EXPECT_EQ(tuned.kernel, nullptr);
}

TEST_F(RankTest, PutsTheLibrarysFastestAlgorithmBehindAFasterKernelAndBeforeItsOwnChoice) {
  put({.problem = "64,64",
       .value = 8,
       .ratio_to_library = 1.2,
       .space = tiles_with_library(),
       .ratio_to_library_tuned = 1.1});
  EXPECT_THAT(answers("64,64"), ElementsAre(R"(exact {"TILE":8})", "library_tuned ", "library ",
                                            R"(default {"TILE":16})"));
  put({.problem = "32,32",
       .value = 8,
       .ratio_to_library = 0.9,
       .space = tiles_with_library(),
       .ratio_to_library_tuned = 0.8});
  EXPECT_THAT(answers("32,32").front(), "library_tuned ");
  EXPECT_THAT(answers("32,32").at(1), "library ");
}

TEST_F(RankTest, AnAlgorithmOfAnotherVersionOfTheLibraryIsNoAnswer) {
  put({.problem = "64,64",
       .value = 8,
       .ratio_to_library = 1.1,
       .space = tiles_with_library(),
       .ratio_to_library_tuned = 0.9,
       .library = "cuBLAS 12"});
  put({.problem = "32,32", .value = 8, .space = tiles_with_library()});
  EXPECT_EQ(answers("64,64").at(0), R"(exact {"TILE":8})") << "whose kernel needs no library";
  EXPECT_EQ(answers("64,64").at(1), "library ");
  EXPECT_THAT(ask("64,64").answers.at(1).explanation,
              ElementsAre("library_tuned: its fastest algorithm was found with cuBLAS 12; in use "
                          "now: cuBLAS"));
}

TEST_F(RankTest, HasNoLibraryWhereTheFamilyHasNoneOrAKernelIsAskedFor) {
  put({.problem = "64,64", .value = 8, .ratio_to_library = 0.9});
  EXPECT_THAT(answers("64,64"), ElementsAre(R"(exact {"TILE":8})", R"(default {"TILE":16})"));
  put({.problem = "64,64", .value = 8, .ratio_to_library = 0.9, .space = tiles_with_library()});
  const Ranking ranking =
      rank(catalogue(store, {}), {.family = "tiles", .kernel = "tiled", .size = "64,64"});
  EXPECT_EQ(ranking.answers.front().rung, Rung::exact);
}

TEST_F(RankTest, WithoutACostModelTheNearestResultIsTakenOnlyWhereAGainIsCertain) {
  put({.problem = "64,64", .value = 8, .ratio_to_library = 1.2, .space = tiles_with_library()});
  EXPECT_THAT(answers("96,64"),
              ElementsAre("library ", R"(nearest {"TILE":8})", R"(default {"TILE":16})"));
  EXPECT_THAT(ask("96,64").explanation, Contains(HasSubstr("since a gain is not certain")));
  EXPECT_EQ(ask("96,64").answers.front().expected_ns, std::nullopt);
  for (const char* size : {"64,48", "48,64", "80,64", "64,80"}) {
    put({.problem = size, .value = 8, .ratio_to_library = 3, .space = tiles_with_library()});
  }
  put({.problem = "64,64", .value = 8, .ratio_to_library = 3, .space = tiles_with_library()});
  EXPECT_EQ(answers("72,72").front(), R"(nearest {"TILE":8})");
}

TEST_F(RankTest, AGainIsCertainOnlyWhereTheOwnTimeIsKnown) {
  for (const int m : {48, 64, 80, 96}) {
    for (const int n : {48, 64, 80, 96}) {
      put({.problem = fmt::format("{},{}", m, n),
           .value = 8,
           .median_ns = 10.0 * m * n,
           .ratio_to_library = 1.35,
           .space = with_library_and_launch()});
    }
  }
  EXPECT_EQ(answers("72,72").front(), R"(nearest {"TILE":8})");
  EXPECT_EQ(answers("4096,4096").front(), "library ") << "where nearly as large a gain is expected";
}

TEST_F(RankTest, TheBestConfigurationsGainIsNotThatOfASlowerOneWhichIsValid) {
  for (const int m : {48, 64, 80, 96}) {
    for (const int n : {48, 64, 80, 96}) {
      const std::string size = fmt::format("{},{}", m, n);
      put({.problem = size,
           .value = 16,
           .median_ns = 10.0 * m * n,
           .ratio_to_library = 1.35,
           .space = with_library_and_launch()});
      put({.problem = size,
           .value = 8,
           .median_ns = 20.0 * m * n,
           .space = with_library_and_launch(),
           .outcome = Outcome::ok});
    }
  }
  EXPECT_EQ(answers("64,72").front(), R"(nearest {"TILE":16})");
  const Ranking where_only_8_is_valid = ask("72,72");
  EXPECT_EQ(where_only_8_is_valid.answers.front().rung, Rung::library);
  EXPECT_NEAR(where_only_8_is_valid.answers.front().expected_ns.value(), 13.5 * 72 * 72, 2000);
}

TEST_F(RankTest, TheLibrarysTimeIsToldByOtherKindsOfProblem) {
  std::string space = tiles_with_library();
  const std::string dims = R"("dims": ["M", "N")";
  space.insert(space.find(dims) + dims.size(),
               R"(, {"name": "T", "values": [0, 1], "default": 0})");
  for (const int m : {48, 64, 480, 640}) {
    for (const int n : {48, 64, 480, 640}) {
      put({.problem = fmt::format("{},{}", m, n),
           .value = 8,
           .median_ns = 10.0 * m * n,
           .ratio_to_library = 1.5,
           .space = space});
    }
  }
  put({.problem = "48,48,T=1",
       .value = 8,
       .median_ns = 10.0 * 48 * 48,
       .ratio_to_library = 1.5,
       .space = space});
  const Catalogue known = catalogue(store, {});
  std::vector<AskedKernel> asked;
  for (const CatalogueKernel& it : known.kernels) {
    asked.push_back({.kernel = &it, .size = known_size("600,600,T=1", it)});
  }
  const LibraryEstimate estimate = library_estimate(asked).value();
  EXPECT_EQ(estimate.sizes, 1U);
  EXPECT_GT(estimate.time.ns, 0.5 * 15 * 600 * 600);
  EXPECT_LT(estimate.time.ns, 2.0 * 15 * 600 * 600);
}

TEST_F(RankTest, ImportedTimesCountTenPercentLongerInTheCostModel) {
  for (const auto& [device, imported] : {std::pair("h200", 9.5), {"h100", 5.0}}) {
    for (const int m : {48, 64, 80, 96}) {
      for (const int n : {48, 64, 80, 96}) {
        put({.problem = fmt::format("{},{}", m, n),
             .value = 8,
             .median_ns = 10.0 * m * n,
             .device = device,
             .space = with_library_and_launch()});
        store::StoredBest theirs = store.bests({}).at(0);
        theirs.best.problem = fmt::format("{},{}", m, n + 4);
        theirs.best.config_json = R"({"TILE":16})";
        const double ns = imported * m * (n + 4);
        theirs.best.time = {.median_ns = ns, .q1_ns = ns, .q3_ns = ns, .min_ns = ns, .samples = 30};
        theirs.best.run_uuid = fmt::format("theirs {} {}", device, theirs.best.problem);
        store.import_bests(std::vector{theirs}, "f");
      }
    }
    EXPECT_EQ(answers("80,72").front(), device == std::string_view("h200")
                                            ? R"(nearest {"TILE":8})"
                                            : R"(nearest {"TILE":16})");
  }
}

TEST_F(RankTest, WhereTheLibraryWasNotTimedTheNearestResultIsTaken) {
  put({.problem = "64,64", .value = 8, .space = tiles_with_library()});
  EXPECT_EQ(answers("96,64").front(), R"(nearest {"TILE":8})");
}

TEST_F(RankTest, AnswersFromOneFamilyOfSeveral) {
  put({.problem = "64,64", .value = 8});
  store::Subject other;
  other.device = space::device_profile("h200").value();
  other.kernel = example_kernel("plain");
  other.kernel.family = "bricks";
  store::RunRecord run;
  run.uuid = "x";
  static_cast<void>(store.begin_run(other, run));
  EXPECT_EQ(catalogue(store, {}).kernels.size(), 2U);
  EXPECT_THAT(answers("64,64"), ElementsAre(R"(exact {"TILE":8})", R"(default {"TILE":16})"));
  EXPECT_THROW(static_cast<void>(rank(catalogue(store, {}), {.family = "brick", .size = "1,1"})),
               Error);
}

}  // namespace
}  // namespace tuner::select
