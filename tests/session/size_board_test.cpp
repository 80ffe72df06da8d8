// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_board.hpp"

#include "tests/session/toy.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Stage = SizeBoard::Stage;

class SizeBoardTest : public testing::Test {
 protected:
  /// A size for each piece of work.
  void make(const std::vector<double>& work, std::size_t cards) {
    std::vector<space::Size> sizes;
    for (std::size_t i = 0; i < work.size(); ++i)
      sizes.push_back({static_cast<std::int64_t>(10 + i)});
    board_.emplace(sizes, kernel_.space->dims, work, cards);
    for (const space::Size& size : sizes) {
      board_->add(size, space::Space(kernel_.space, {}, size), "exhaustive", 0, {}, {});
    }
  }
  std::vector<std::int64_t> taken(std::size_t count) {
    std::vector<std::int64_t> sizes;
    while (sizes.size() < count) sizes.push_back(board_->take({})->search->size()[0]);
    return sizes;
  }

  family::Family family_ = toy::family();
  const family::Kernel& kernel_ = family_.kernels.front();
  std::optional<SizeBoard> board_;
};

TEST_F(SizeBoardTest, OnSeveralCardsTheMostWorkComesFirst) {
  make({1, 64, 1000, 0, 70, 30}, 2);
  EXPECT_THAT(taken(6), ElementsAre(12, 11, 14, 15, 10, 13));
}

TEST_F(SizeBoardTest, OnOneCardTheOrderIsThatOfNeighbours) {
  make({1, 64, 1000, 0, 70, 30}, 1);
  EXPECT_THAT(taken(2), ElementsAre(10, 15)) << "the first, and the farthest from it";
}

TEST_F(SizeBoardTest, ACardBeginsNoMoreThanItsShareOfTheRest) {
  make(std::vector<double>(9, 1), 2);
  std::vector<SizeSearch*> open;
  while (const auto taken = board_->take(open)) open.push_back(taken->search);
  EXPECT_EQ(open.size(), 3U) << "with a fourth it would have begun four, of six that are left";
  EXPECT_EQ(board_->waiting_per_card(), 3);
  while (board_->take({})) {
  }
  EXPECT_EQ(board_->waiting_per_card(), 0) << "one that has none takes the next";
}

TEST_F(SizeBoardTest, ACardWithALongSizeTakesNoOther) {
  make({1, 1, 1, 1, 100, 1}, 2);
  SizeSearch* const longest = board_->take({})->search;
  EXPECT_EQ(longest->size()[0], 14);
  EXPECT_FALSE(board_->take({&longest, 1}));
}

TEST_F(SizeBoardTest, ACardSearchesAFewAtOnce) {
  for (const auto& [cards, most] : {std::pair(1U, 8U), std::pair(2U, 4U), std::pair(16U, 2U)}) {
    make(std::vector<double>(200, 1), cards);
    std::vector<SizeSearch*> open;
    while (const auto taken = board_->take(open)) open.push_back(taken->search);
    EXPECT_EQ(open.size(), most) << cards << " cards";
  }
}

TEST_F(SizeBoardTest, WhatIsGivenBackIsTakenFirstAndWakesWhoWaits) {
  make({1, 1}, 2);
  SizeSearch& first = *board_->take({})->search;
  SizeSearch& second = *board_->take({})->search;
  EXPECT_EQ(board_->waiting_per_card(), 0);
  board_->give_back(second, Stage::searched);
  board_->remove_card();
  EXPECT_EQ(board_->waiting_per_card(), 1);
  EXPECT_TRUE(board_->wait([] { return false; }));
  const auto again = board_->take({});
  EXPECT_EQ(again->search, &second);
  EXPECT_EQ(again->stage, Stage::searched);
  board_->set_ended(second);
  board_->finish(second);
  EXPECT_FALSE(board_->wait([] { return true; })) << "stopped";
  board_->finish(first);
  EXPECT_FALSE(board_->wait([] { return false; })) << "all are finished";
  EXPECT_FALSE(board_->all_ended());
}

TEST_F(SizeBoardTest, OffersGoToTheNeighboursThatAreBeingSearched) {
  make({1, 1, 1}, 1);
  SizeSearch& first = *board_->take({})->search;
  SizeSearch& second = *board_->take({})->search;
  const space::Config config = toy::config(family_, "TILE=3,DEPTH=2");
  board_->offer(first, config);
  EXPECT_THAT(board_->offered(second), ElementsAre(config));
  EXPECT_THAT(board_->offered(second), IsEmpty()) << "each offer once";
  EXPECT_THAT(board_->offered(first), IsEmpty());
  EXPECT_THAT(board_->offered(*board_->take({})->search), IsEmpty()) << "it was not open";
}

}  // namespace
}  // namespace tuner::session
