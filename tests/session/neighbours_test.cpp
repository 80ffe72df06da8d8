// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/neighbours.hpp"

#include "tests/session/toy.hpp"
#include "tuner/session/size_search.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<space::Size> sizes(std::initializer_list<std::int64_t> numbers) {
  std::vector<space::Size> all;
  for (const std::int64_t number : numbers) all.push_back({number});
  return all;
}

Neighbours of(std::initializer_list<std::int64_t> numbers) {
  return Neighbours(sizes(numbers), toy::family().problem.dims);
}

TEST(Neighbours, BeginsWithWhatIsFarApartAndGoesOnInBetween) {
  EXPECT_THAT(of({16, 32, 64, 1024}).order(), ElementsAre(0, 3, 2, 1));
  EXPECT_THAT(of({7}).order(), ElementsAre(0));
}

TEST(Neighbours, AreTheNearestFour) {
  const Neighbours neighbours = of({16, 32, 64, 128, 256, 4096});
  EXPECT_THAT(neighbours.nearest(0), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(neighbours.nearest(3), ElementsAre(2, 4, 1, 0, 5));
  EXPECT_TRUE(neighbours.is_neighbour(0, 4));
  EXPECT_FALSE(neighbours.is_neighbour(0, 5));
  EXPECT_TRUE(neighbours.is_neighbour(5, 4)) << "not the same the other way round";
  EXPECT_FALSE(neighbours.is_neighbour(2, 2));
}

TEST(Neighbours, AreOfTheSameKindAndEachKindIsBegunEarly) {
  const family::Family family =
      toy::family_with(R"json("dims": ["N"])json",
                       R"json("dims": ["N", {"name": "T", "values": [0, 1], "default": 0}])json");
  const std::vector<space::Size> all = {{16, 0}, {4096, 0}, {16, 1}, {32, 1}};
  const Neighbours neighbours(all, family.problem.dims);
  EXPECT_THAT(neighbours.nearest(0), ElementsAre(1));
  EXPECT_THAT(neighbours.nearest(2), ElementsAre(3));
  EXPECT_THAT(neighbours.order(), ElementsAre(0, 2, 1, 3));
}

class WinnersNearbyTest : public testing::Test {
 protected:
  WinnersNearbyTest() {
    for (const std::int64_t size : {10, 20, 40, 1000}) {
      searches_.emplace_back(space::Size{size},
                             space::Space(family_.kernels.front().space, {}, space::Size{size}),
                             "exhaustive", 0, PriorKnowledge{}, std::nullopt);
    }
  }

  void timed(std::size_t search, std::string_view config, double time_ns) {
    store::TrialRecord trial;
    trial.time = TimeSummary{.median_ns = time_ns};
    static_cast<void>(searches_[search].record(toy::config(family_, config), trial));
  }
  std::vector<std::string> winners_at_10() const {
    std::vector<std::string> texts;
    std::vector<std::vector<space::Config>> by_size;
    for (const SizeSearch& search : searches_) by_size.push_back(winners(search));
    for (const space::Config& config : winners_nearby(of({10, 20, 40, 1000}), 0, by_size)) {
      texts.push_back(space::display(*family_.kernels.front().space, config));
    }
    return texts;
  }

 private:
  family::Family family_ = toy::family();
  std::deque<SizeSearch> searches_;
};

TEST_F(WinnersNearbyTest, AreTheFastestThreeOfEachTheNearestsFastestFirst) {
  EXPECT_THAT(winners_at_10(), IsEmpty());
  timed(2, "TILE=4,DEPTH=1", 100);
  timed(2, "TILE=4,DEPTH=2", 101);
  timed(1, "TILE=3,DEPTH=3", 103);
  timed(1, "TILE=3,DEPTH=1", 100);
  timed(1, "TILE=3,DEPTH=2", 102);
  timed(1, "TILE=2,DEPTH=2", 104);
  EXPECT_THAT(winners_at_10(), ElementsAre("TILE=3 DEPTH=1", "TILE=4 DEPTH=1", "TILE=3 DEPTH=2",
                                           "TILE=4 DEPTH=2", "TILE=3 DEPTH=3"));
}

TEST_F(WinnersNearbyTest, AreEachOnceAndNotFarBehindTheFastestThere) {
  timed(1, "TILE=3,DEPTH=1", 100);
  timed(1, "TILE=3,DEPTH=2", 111);
  timed(2, "TILE=3,DEPTH=1", 500);
  timed(3, "TILE=3,DEPTH=3", 1);
  EXPECT_THAT(winners_at_10(), ElementsAre("TILE=3 DEPTH=1", "TILE=3 DEPTH=3"));
}

}  // namespace
}  // namespace tuner::session
