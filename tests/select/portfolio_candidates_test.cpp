// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/portfolio_candidates.hpp"

#include "tuned_database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/portfolio.hpp"
#include "tuner/select/rank.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace tuner::select {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

/// Results of finals at 64,64 and of trials at 512,512: of these a portfolio has two.
class PortfolioCandidates : public TunedDatabase {
 protected:
  PortfolioCandidates() {
    put({.problem = "64,64", .value = 8, .space = space_});
    try_out("tiled", 16, 1200);
    try_out("plain", 64, 1000);
  }

  void try_out(const std::string& kernel, int value, double median_ns,
               std::optional<double> back_to_back_ns = {}) {
    put({.kernel = kernel,
         .problem = "512,512",
         .value = value,
         .median_ns = median_ns,
         .space = space_,
         .back_to_back_ns = back_to_back_ns,
         .outcome = Outcome::ok});
  }

  void record(std::optional<double> library_ns = {}, const std::string& hash = "new",
              std::optional<double> library_cold_ns = {}) {
    const space::DeviceInfo device = space::device_profile("h200").value();
    store.record_portfolio(
        device,
        {.family = "tiles",
         .distribution = "drawn",
         .recorded_at = "2026-11-28T12:00:00Z",
         .loss = 1.02,
         .left_out_loss = 1.05,
         .members = {{"tiled", hash, R"({"TILE":16})"}, {"plain", hash, R"({"BLOCK":64})"}},
         .sizes = {{.problem = "512,512",
                    .library_cold_ns = library_cold_ns,
                    .member_ns = 1000,
                    .library_ns = library_ns}},
         .environment = {
             .driver = "13.0", .compiler = "NVRTC 13.0", .library = "cuBLAS", .tool = "0.1.0"}});
  }

  [[nodiscard]] static std::vector<std::string> answers(const Ranking& ranking) {
    std::vector<std::string> result;
    for (const Selection& it : ranking.answers) {
      result.push_back(fmt::format("{} {}", name(it.rung), it.config_json));
    }
    return result;
  }
  [[nodiscard]] static Ranking ask(const Catalogue& known, const std::string& size) {
    return rank(known, {.family = "tiles", .size = size});
  }

  std::string space_ = tiles_with_library();
};

TEST_F(PortfolioCandidates, MembersAnswerForUntunedSizesInsteadOfWhatWonElsewhere) {
  EXPECT_THAT(answers(ask(catalogue(store, {}), "1024,1024")), Contains(R"(nearest {"TILE":8})"));
  record();
  const Ranking ranking = ask(catalogue(store, {}), "1024,1024");
  EXPECT_THAT(answers(ranking), ElementsAre(R"(nearest {"BLOCK":64})", R"(nearest {"TILE":16})",
                                            "library ", R"(default {"BLOCK":64})"))
      << "by their times at the nearest size";
  EXPECT_EQ(ranking.members, 2U);
  EXPECT_THAT(ranking.explanation, Contains(HasSubstr("2 of the 2 members of the portfolio")));
}

TEST_F(PortfolioCandidates, TheWinnerOfATunedSizeStaysFirst) {
  record();
  const auto all = answers(ask(catalogue(store, {}), "64,64"));
  EXPECT_EQ(all.front(), R"(exact {"TILE":8})");
  EXPECT_THAT(all, Contains(R"(nearest {"BLOCK":64})"));
}

TEST_F(PortfolioCandidates, AMemberThatIsNotValidAtTheSizeIsLeftOut) {
  record();
  const auto all = answers(ask(catalogue(store, {}), "1000,7"));
  EXPECT_THAT(all, Not(Contains(R"(nearest {"TILE":16})")));
}

TEST_F(PortfolioCandidates, WhereTheLibraryWasFasterThanTheMembersItComesFirst) {
  record(500);
  EXPECT_EQ(answers(ask(catalogue(store, {}), "1024,1024")).front(), "library ");
}

TEST_F(PortfolioCandidates, AMemberComesBeforeTheLibraryWhereItsGainIsCertain) {
  record(1500);
  const Ranking near = ask(catalogue(store, {}), "512,528");
  EXPECT_EQ(answers(near).front(), R"(nearest {"BLOCK":64})");
  const auto library = std::ranges::find(near.answers, Rung::library, &Selection::rung);
  ASSERT_NE(library, near.answers.end());
  EXPECT_NEAR(*library->expected_ns / *near.answers.front().expected_ns, 1.5, 0.05);
  const Ranking far = ask(catalogue(store, {}), "16,16");
  EXPECT_EQ(answers(far).front(), "library ");
  EXPECT_THAT(far.explanation, Contains(HasSubstr("since a gain is not certain")));
}

TEST_F(PortfolioCandidates, AMemberThatWasTimedNearComesBeforeOneThatWasFasterFarAway) {
  put({.kernel = "tiled",
       .problem = "512,8192",
       .value = 16,
       .median_ns = 8000,
       .space = space_,
       .outcome = Outcome::ok});
  store.record_portfolio(
      space::device_profile("h200").value(),
      {.family = "tiles",
       .recorded_at = "2026-11-28T13:00:00Z",
       .members = {{"tiled", "new", R"({"TILE":16})"}, {"plain", "new", R"({"BLOCK":64})"}},
       .sizes = {{.problem = "512,512", .member_ns = 1000, .library_ns = 4000},
                 {.problem = "512,8192", .member_ns = 8000, .library_ns = 9000}}});
  const std::vector<std::string> all = answers(ask(catalogue(store, {}), "512,8000"));
  EXPECT_LT(std::ranges::find(all, R"(nearest {"TILE":16})"),
            std::ranges::find(all, R"(nearest {"BLOCK":64})"));
}

TEST_F(PortfolioCandidates, BesideTimesFromAColdCacheOthersDoNotCount) {
  put({.kernel = "plain", .problem = "512,576", .value = 64, .median_ns = 10, .space = space_});
  store.record_portfolio(space::device_profile("h200").value(),
                         {.family = "tiles",
                          .recorded_at = "2026-11-28T13:00:00Z",
                          .members = {{"plain", "new", R"({"BLOCK":64})"}},
                          .sizes = {{.problem = "512,512", .library_cold_ns = 900},
                                    {.problem = "512,576", .library_cold_ns = 900}}});
  EXPECT_EQ(answers(ask(catalogue(store, {}), "512,560")).front(), "library ")
      << "the final round's 10 ns are not of single launches from a cold cache";
}

TEST_F(PortfolioCandidates, TimesBackToBackDecide) {
  try_out("tiled", 16, 1200, 500);
  try_out("plain", 64, 1000, 900);
  record(800, "new", 1100);
  const std::vector<std::string> all = answers(ask(catalogue(store, {}), "512,528"));
  EXPECT_THAT(all, ElementsAre(R"(nearest {"TILE":16})", "library ", R"(nearest {"BLOCK":64})",
                               R"(default {"BLOCK":64})"));
  const Catalogue table = parse_catalogue(catalogue_json(catalogue(store, {})), "t.json");
  EXPECT_EQ(answers(ask(table, "512,528")), all);
}

TEST_F(PortfolioCandidates, SingleLaunchesDecideInAPortfolioThatWasTimedByThemAlone) {
  try_out("tiled", 16, 1200, 500);
  try_out("plain", 64, 1000, 900);
  record({}, "new", 1100);
  const std::vector<std::string> all = answers(ask(catalogue(store, {}), "512,528"));
  EXPECT_THAT(all, ElementsAre(R"(nearest {"BLOCK":64})", "library ", R"(nearest {"TILE":16})",
                               R"(default {"BLOCK":64})"));
  const Catalogue table = parse_catalogue(catalogue_json(catalogue(store, {})), "t.json");
  EXPECT_EQ(answers(ask(table, "512,528")), all);
}

TEST_F(PortfolioCandidates, MembersOfAKernelThatHasChangedAreNone) {
  put({.problem = "128,128", .value = 8, .hash = "newer", .space = space_});
  put({.kernel = "plain", .problem = "128,128", .value = 32, .hash = "newer", .space = space_});
  record();
  EXPECT_THAT(catalogue(store, {}).portfolios, IsEmpty());
}

TEST_F(PortfolioCandidates, ATableCarriesThem) {
  EXPECT_THAT(catalogue_json(catalogue(store, {})), Not(HasSubstr("portfolio")))
      << "a table without them is as it was before there were any";
  record(800);
  const Catalogue written = catalogue(store, {});
  const std::string text = catalogue_json(written);
  EXPECT_TRUE(is_as_written(text));
  const Catalogue read = parse_catalogue(text, "t.json");
  EXPECT_EQ(answers(ask(read, "1024,1024")), answers(ask(written, "1024,1024")));
  ASSERT_THAT(read.portfolios, SizeIs(1));
  EXPECT_EQ(read.portfolios[0].members, written.portfolios[0].members);
  EXPECT_EQ(read.portfolios[0].sizes, written.portfolios[0].sizes);
  EXPECT_EQ(read.portfolios[0].left_out_loss, 1.05);
  EXPECT_EQ(outline_catalogue(text, "t.json").known.portfolios.size(), 1U);
  EXPECT_EQ(catalogue_json(read), text);
}

TEST_F(PortfolioCandidates, AChangedPortfolioIsNoticedAndAMemberWithoutAKernelRefused) {
  record();
  std::string text = catalogue_json(catalogue(store, {}));
  const std::size_t loss = text.find("\"loss\":1.02");
  ASSERT_NE(loss, std::string::npos);
  EXPECT_FALSE(is_as_written(std::string(text).replace(loss, 11, "\"loss\":1.01")));
  text.replace(text.find(R"("hash":"new","values")"), 12, R"("hash":"old")");
  EXPECT_THAT([&] { static_cast<void>(parse_catalogue(text, "t.json")); },
              ThrowsMessage<Error>(HasSubstr("t.json: is not a table of tuned configurations: the "
                                             "portfolio of tiles has a member of tiled")));
}

TEST(TypesOf, AreTheTypesThatASizeNames) {
  space::Dimension n{.name = "N"};
  space::Dimension type{.name = "TYPE",
                        .default_value = space::Expression::constant(0),
                        .values = {0, 1},
                        .value_names = {"f32", "bf16"},
                        .types = {{"A", {ElementType::f32, ElementType::bf16}}}};
  const space::Dimensions dims({n, type}, {});
  EXPECT_EQ(types_of({64, 1}, dims), "TYPE=bf16");
  EXPECT_EQ(types_of({64}, space::Dimensions({"N"})), "");
}

}  // namespace
}  // namespace tuner::select
