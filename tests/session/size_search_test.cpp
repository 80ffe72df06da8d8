// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_search.hpp"

#include "tests/session/toy.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::Pair;

store::TrialRecord ok(double median_ns) {
  store::TrialRecord trial;
  trial.time = TimeSummary{.median_ns = median_ns,
                           .q1_ns = median_ns,
                           .q3_ns = median_ns,
                           .min_ns = median_ns,
                           .samples = 20};
  return trial;
}

store::TrialRecord failed(Outcome outcome) {
  store::TrialRecord trial;
  trial.outcome = outcome;
  return trial;
}

class SizeSearchTest : public testing::Test {
 protected:
  struct Options {
    std::string_view strategy = "exhaustive";
    std::optional<std::string_view> incumbent = {};
    std::map<std::string, store::TrialRecord> known = {};
    std::vector<std::string_view> winners_at_size = {};
    std::vector<std::string_view> winners_elsewhere = {};
    std::vector<std::string_view> recommended = {};
    std::optional<std::uint64_t> max_evaluations = {};
    std::string_view constraint = "TILE*DEPTH <= 12";
  };

  SizeSearch& search(const Options& options) {
    family_ = toy::family(options.constraint);
    PriorKnowledge prior{.trials = options.known};
    if (options.incumbent) prior.incumbent = config(*options.incumbent);
    for (const std::string_view winner : options.winners_at_size) {
      prior.winners_at_size.push_back(config(winner));
    }
    for (const std::string_view winner : options.winners_elsewhere) {
      prior.winners_elsewhere.push_back(config(winner));
    }
    for (const std::string_view each : options.recommended) {
      prior.recommended.push_back(config(each));
    }
    return search_.emplace(space::Size{8},
                           space::Space(family_.kernels.front().space, {}, space::Size{8}),
                           options.strategy, 1, std::move(prior), options.max_evaluations);
  }

  space::Config config(std::string_view text) const { return toy::config(family_, text); }

  /// All that the search asks for, each answered at once, as "TILE=2 DEPTH=1".
  std::vector<std::string> asked() {
    std::vector<std::string> configs;
    while (const auto next = search_->next()) {
      static_cast<void>(search_->record(*next, ok(100)));
      configs.push_back(space::display(search_->space().definition(), *next));
    }
    return configs;
  }

 private:
  family::Family family_;
  std::optional<SizeSearch> search_;
};

TEST_F(SizeSearchTest, AsksForTheDefaultThenTheIncumbentThenTheRest) {
  search({.incumbent = "TILE=4,DEPTH=3", .constraint = "TILE == DEPTH + 1"});
  EXPECT_THAT(asked(), ElementsAre("TILE=2 DEPTH=1", "TILE=4 DEPTH=3", "TILE=3 DEPTH=2"));
}

TEST_F(SizeSearchTest, AsksForEveryConfigurationOnceWhateverTheStrategy) {
  for (const std::string_view strategy : {"exhaustive", "random", "auto"}) {
    search({.strategy = strategy, .incumbent = "TILE=4,DEPTH=3"});
    const std::vector<std::string> all = asked();
    EXPECT_EQ(all.size(), 12U) << strategy;
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 12U) << strategy;
  }
}

TEST_F(SizeSearchTest, AsksOnceForAnIncumbentThatIsTheDefault) {
  search({.incumbent = "", .constraint = "TILE == 2 and DEPTH <= 2"});
  EXPECT_THAT(asked(), ElementsAre("TILE=2 DEPTH=1", "TILE=2 DEPTH=2"));
}

TEST_F(SizeSearchTest, AsksForNoSeedThatIsOutsideOfTheSpace) {
  search({.incumbent = "TILE=4,DEPTH=3", .constraint = "TILE == 3"});
  EXPECT_THAT(asked(), ElementsAre("TILE=3 DEPTH=1", "TILE=3 DEPTH=2", "TILE=3 DEPTH=3"));
}

TEST_F(SizeSearchTest, StopsAtTheMostEvaluationsSeedsIncluded) {
  EXPECT_EQ(search({.incumbent = "TILE=4,DEPTH=3", .max_evaluations = 3}).planned(), 3U);
  EXPECT_EQ(asked().size(), 3U);
  EXPECT_EQ(search({.max_evaluations = 100}).planned(), 12U) << "no more than there are";
}

TEST_F(SizeSearchTest, KnowsStoredResultsByTheirConfiguration) {
  SizeSearch& found = search({.known = {{R"({"DEPTH":2,"TILE":3})", ok(42)}}});
  EXPECT_EQ(found.known_count(), 1U);
  ASSERT_NE(found.known(R"({"DEPTH":2,"TILE":3})"), nullptr);
  EXPECT_DOUBLE_EQ(found.known(R"({"DEPTH":2,"TILE":3})")->time->median_ns, 42);
  EXPECT_EQ(found.known(R"({"DEPTH":3,"TILE":2})"), nullptr);
}

TEST_F(SizeSearchTest, AsksForWhatIsKnownFastestFirstAndThenForWhatWonElsewhere) {
  search({.known = {{R"({"DEPTH":1,"TILE":1})", failed(Outcome::crashed)},
                    {R"({"DEPTH":2,"TILE":3})", ok(42)},
                    {R"({"DEPTH":3,"TILE":3})", ok(7)},
                    {R"({"DEPTH":3,"TILE":5})", ok(1)}},  // the space no longer has it
          .winners_elsewhere = {"TILE=4,DEPTH=2", "TILE=3,DEPTH=2"},
          .max_evaluations = 5});
  EXPECT_THAT(asked(), ElementsAre("TILE=2 DEPTH=1", "TILE=3 DEPTH=3", "TILE=3 DEPTH=2",
                                   "TILE=1 DEPTH=1", "TILE=4 DEPTH=2"));
}

TEST_F(SizeSearchTest, AsksForNothingNewWhereItIsLimitedToWhatIsKnown) {
  SizeSearch& known =
      search({.known = {{R"({"DEPTH":2,"TILE":4})", ok(50)}, {R"({"DEPTH":1,"TILE":1})", ok(90)}},
              .winners_elsewhere = {"TILE=2,DEPTH=2"}});
  known.limit_to_known();
  const std::size_t default_is_known =
      known.known(space::canonical_json(known.space().definition(), known.space().default_config()))
          ? 1
          : 0;
  const std::vector<std::string> configs = asked();
  EXPECT_EQ(configs.size(), 3 - default_is_known);
  EXPECT_THAT(configs, testing::Contains("TILE=4 DEPTH=2"));
  EXPECT_THAT(configs, testing::Not(testing::Contains("TILE=2 DEPTH=2")));
}

TEST_F(SizeSearchTest, AsksNextForWhatIsSuggestedOnce) {
  SizeSearch& running = search({.constraint = "TILE <= 3"});
  running.suggest(config("TILE=3,DEPTH=3"));
  running.suggest(config("TILE=4,DEPTH=3"));  // not in the space
  EXPECT_EQ(running.next(), config("TILE=3,DEPTH=3"));
  running.suggest(config("TILE=3,DEPTH=3"));
  EXPECT_EQ(running.next(), config("TILE=2,DEPTH=1"));
}

TEST_F(SizeSearchTest, AsksForWhatWonNearbyBeforeWhatWonElsewhere) {
  search({.incumbent = "TILE=4,DEPTH=3",
          .winners_elsewhere = {"TILE=4,DEPTH=2", "TILE=3,DEPTH=2"},
          .max_evaluations = 5})
      .expect({config("TILE=1,DEPTH=2"), config("TILE=3,DEPTH=2")});
  EXPECT_THAT(asked(), ElementsAre("TILE=2 DEPTH=1", "TILE=4 DEPTH=3", "TILE=1 DEPTH=2",
                                   "TILE=3 DEPTH=2", "TILE=4 DEPTH=2"));
}

TEST_F(SizeSearchTest, AsksForWhatWonAtTheSizeElsewhereBeforeWhatWonNearby) {
  search({.winners_at_size = {"TILE=3,DEPTH=1", "TILE=1,DEPTH=3"},
          .winners_elsewhere = {"TILE=3,DEPTH=1", "TILE=4,DEPTH=2"},
          .max_evaluations = 5})
      .expect({config("TILE=1,DEPTH=2")});
  EXPECT_THAT(asked(), ElementsAre("TILE=2 DEPTH=1", "TILE=3 DEPTH=1", "TILE=1 DEPTH=3",
                                   "TILE=1 DEPTH=2", "TILE=4 DEPTH=2"));
}

TEST_F(SizeSearchTest, AsksForWhatWonElsewhereAlsoWhereNothingWonNearby) {
  search({.winners_at_size = {"TILE=3,DEPTH=1"},
          .winners_elsewhere = {"TILE=4,DEPTH=2", "TILE=1,DEPTH=2", "TILE=1,DEPTH=3"},
          .max_evaluations = 5})
      .expect({});
  EXPECT_THAT(asked(), ElementsAre("TILE=2 DEPTH=1", "TILE=3 DEPTH=1", "TILE=4 DEPTH=2",
                                   "TILE=1 DEPTH=2", "TILE=1 DEPTH=3"));
}

TEST_F(SizeSearchTest, AsksForWhatTheAuthorRecommendsAfterWhatWonElsewhere) {
  search({.winners_elsewhere = {"TILE=4,DEPTH=2"},
          .recommended = {"TILE=3,DEPTH=3", "TILE=4,DEPTH=2", "TILE=1,DEPTH=3"},
          .max_evaluations = 4});
  EXPECT_THAT(asked(),
              ElementsAre("TILE=2 DEPTH=1", "TILE=4 DEPTH=2", "TILE=3 DEPTH=3", "TILE=1 DEPTH=3"));
}

TEST_F(SizeSearchTest, AsksNothingOnceItIsOverAndKeepsItsResults) {
  SizeSearch& over = search({.winners_elsewhere = {"TILE=4,DEPTH=2"}});
  static_cast<void>(over.record(*over.next(), ok(100)));
  over.close();
  EXPECT_EQ(over.next(), std::nullopt);
  EXPECT_TRUE(over.record(config("TILE=4"), ok(99))) << "as when the device had drifted";
  EXPECT_EQ(over.ranking().size(), 2U);
}

TEST_F(SizeSearchTest, TellsTheFirstOfItsRanking) {
  SizeSearch& running = search({});
  const auto in_series = [](double median_ns, double series_ns) {
    store::TrialRecord trial = ok(median_ns);
    trial.series_ns = series_ns;
    return trial;
  };
  EXPECT_TRUE(running.record(config("TILE=1"), ok(100)));
  EXPECT_TRUE(running.record(config("TILE=2"), in_series(90, 60)));
  EXPECT_FALSE(running.record(config("TILE=3"), in_series(80, 70)))
      << "faster in single launches only";
  EXPECT_EQ(running.ranking().front().config, config("TILE=2"));
  EXPECT_TRUE(running.record(config("TILE=4"), ok(85))) << "60 / 90 of 85 is less than 60";
  EXPECT_FALSE(running.record(config("TILE=4"), failed(Outcome::crashed)));
  EXPECT_FALSE(running.record(config("TILE=1"), ok(95)));
  EXPECT_EQ(running.ranking().front().config, config("TILE=2"));
}

TEST_F(SizeSearchTest, CountsTheResultsSinceTheLastNoticeableGain) {
  SizeSearch& running = search({});
  static_cast<void>(running.record(config("TILE=1"), failed(Outcome::wrong_result)));
  EXPECT_EQ(running.without_improvement(), 1U);
  static_cast<void>(running.record(config("TILE=2"), ok(1000)));
  EXPECT_EQ(running.without_improvement(), 0U);
  static_cast<void>(running.record(config("TILE=3"), ok(997)));
  static_cast<void>(running.record(config("TILE=4"), ok(1200)));
  EXPECT_EQ(running.without_improvement(), 2U) << "0.3 % is not noticed";
  static_cast<void>(running.record(config("TILE=1,DEPTH=2"), ok(994)));
  EXPECT_EQ(running.without_improvement(), 0U) << "little by little it is";
}

TEST_F(SizeSearchTest, SaysWhichResultIsTheFastestSoFar) {
  SizeSearch& running = search({});
  EXPECT_EQ(running.best_ns(), std::nullopt);
  EXPECT_FALSE(running.record(config("TILE=1"), failed(Outcome::wrong_result)));
  EXPECT_TRUE(running.record(config("TILE=2"), ok(100)));
  EXPECT_FALSE(running.record(config("TILE=3"), ok(100))) << "as fast is not faster";
  EXPECT_TRUE(running.record(config("TILE=4"), ok(99)));
  EXPECT_EQ(running.best_ns(), 99);
  EXPECT_EQ(running.recorded(), 4U);
}

TEST_F(SizeSearchTest, RanksWhatEndedOkAndCountsTheRest) {
  SizeSearch& done = search({});
  static_cast<void>(done.record(config("TILE=4"), ok(100)));
  static_cast<void>(done.record(config("TILE=1"), failed(Outcome::compile_error)));
  static_cast<void>(done.record(config("TILE=2"), ok(100)));
  static_cast<void>(done.record(config("TILE=3"), ok(90)));
  std::vector<space::Config> ranking;
  for (const Ranked& ranked : done.ranking()) ranking.push_back(ranked.config);
  EXPECT_THAT(ranking, ElementsAre(config("TILE=3"), config("TILE=2"), config("TILE=4")));
  EXPECT_EQ(done.outcomes().at(Outcome::ok), 3U);
  EXPECT_EQ(done.outcomes().at(Outcome::compile_error), 1U);
}

TEST_F(SizeSearchTest, RanksByTimesInSeriesAndTheRestByWhatTheirsWouldBe) {
  const auto in_series = [](double median_ns, double series_ns) {
    store::TrialRecord trial = ok(median_ns);
    trial.series_ns = series_ns;
    return trial;
  };
  SizeSearch& done = search({});
  EXPECT_TRUE(done.record(config("TILE=1"), in_series(100, 90)));
  EXPECT_TRUE(done.record(config("TILE=2"), in_series(110, 77))) << "slower alone, first in series";
  EXPECT_FALSE(done.record(config("TILE=3"), ok(130)));
  EXPECT_FALSE(done.record(config("TILE=4"), ok(120)));
  std::vector<std::pair<space::Config, double>> ranking;
  for (const Ranked& ranked : done.ranking()) {
    ranking.emplace_back(ranked.config, ranked.ranked_ns);
  }
  EXPECT_THAT(ranking, ElementsAre(Pair(config("TILE=2"), 77), Pair(config("TILE=4"), 0.7 * 120),
                                   Pair(config("TILE=1"), 90), Pair(config("TILE=3"), 0.7 * 130)));
  EXPECT_EQ(done.best_ns(), 100) << "beside which candidates are screened";
  EXPECT_EQ(done.without_improvement(), 2U);
}

}  // namespace
}  // namespace tuner::session
