// SPDX-License-Identifier: Apache-2.0
// Runs on several cards: how sizes are shared out, and what a card that drops out costs.
#include "tests/session/session_fixture.hpp"
#include "tuner/core/error.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <set>
#include <thread>

namespace tuner::session {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A toy device that is a card with a uuid.
class ToyCard : public toy::Device {
 public:
  explicit ToyCard(std::string uuid) : info_(toy::Device::device()) {
    info_.uuid = std::move(uuid);
    behaviours["toy<3,2>"].time_ns = 500;
  }
  const space::DeviceInfo& device() const override { return info_; }
  void set_name(std::string name) { info_.name = std::move(name); }

 private:
  space::DeviceInfo info_;
};

/// Counts the cards that drop out.
class DropCounter : public Recorder {
 public:
  void tell(const Event& event) override {
    Recorder::tell(event);
    if (std::holds_alternative<CardDropped>(event)) ++drops;
  }
  std::atomic<int> drops = 0;
};

class CardsTest : public testing::Test {
 protected:
  explicit CardsTest(std::size_t count = 2) {
    for (std::size_t i = 0; i < count; ++i) devices.emplace_back("CARD-" + std::to_string(i));
  }

  static std::vector<space::Size> sizes(std::int64_t count = 20) {
    std::vector<space::Size> all;
    for (std::int64_t size = 10; size < 10 + count; ++size) all.push_back({size});
    return all;
  }
  /// Each card takes a while over a launch, so that all of them have a part in the run.
  void slow_down() {
    for (ToyCard& device : devices) {
      device.on_launch = [](const std::string&) { std::this_thread::sleep_for(20us); };
    }
  }
  /// Every configuration crashes there.
  static void crash_on(ToyCard& device) {
    for (int tile = 1; tile <= 4; ++tile) {
      for (int depth = 1; depth <= 3; ++depth) {
        device.behaviours["toy<" + std::to_string(tile) + "," + std::to_string(depth) + ">"]
            .failure = Outcome::crashed;
      }
    }
  }
  RunResult run(
      const RunPlan& plan, const std::function<bool()>& interrupted = [] { return false; }) {
    std::deque<worker::Evaluator> evaluators;
    std::vector<Card> cards;
    for (ToyCard& device : devices) {
      evaluators.emplace_back(device, device.compiler(), family, plan.seed);
      cards.push_back({.name = std::to_string(cards.size()),
                       .device = &evaluators.back(),
                       .compiler = &devices.front().compiler(),
                       .compile_threads = 2});
    }
    const auto late = static_cast<std::ptrdiff_t>(cards.size() - joining);
    bool asked = false;
    NewCards join;
    if (joining > 0) {
      join = [&, later = std::vector(cards.begin() + late, cards.end())] {
        return std::exchange(asked, true) ? std::vector<Card>() : later;
      };
    }
    cards.erase(cards.begin() + late, cards.end());
    return tune_kernel({.family = family,
                        .kernel = family.kernels.front(),
                        .plan = plan,
                        .cards = cards,
                        .joining = join,
                        .store = store,
                        .observer = seen,
                        .interrupted = interrupted});
  }
  /// The message that the run ends with.
  std::string failure(const RunPlan& plan, ErrorCode code) {
    try {
      static_cast<void>(run(plan));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    return "nothing was thrown";
  }
  void expect_every_size(const RunResult& result, std::size_t count) const {
    EXPECT_EQ(result.state, store::RunState::complete);
    ASSERT_THAT(result.sizes, SizeIs(count));
    for (std::size_t i = 0; i < count; ++i) {
      const SizeResult& size = result.sizes[i];
      EXPECT_EQ(size.size, space::Size{10 + static_cast<std::int64_t>(i)});
      ASSERT_TRUE(size.best);
      EXPECT_EQ(size.best->config_json, kFastest);
      EXPECT_EQ(size.outcomes.at(Outcome::ok), 12U);
    }
    EXPECT_THAT(store.bests({}), SizeIs(count));
  }
  /// The uuids of the cards that each size was tuned on, in order.
  std::map<std::string, std::vector<std::string>> cards_of_sizes() const {
    std::map<std::string, std::vector<std::string>> cards;
    for (const store::CardRecord& card : store.cards(store.runs().front().id)) {
      cards[card.problem].push_back(card.uuid);
    }
    return cards;
  }

  family::Family family = toy::family();
  std::size_t joining = 0;  // of the devices, the last: they join the run
  std::deque<ToyCard> devices;
  store::Store store = store::Store::in_memory();
  DropCounter seen;
};

TEST_F(CardsTest, ACardThatJoinsTakesSizes) {
  joining = 1;
  for (ToyCard& device : devices) {
    device.on_launch = [](const std::string&) { std::this_thread::sleep_for(300us); };
  }
  const RunResult result = run({.sizes = sizes()});
  expect_every_size(result, 20);
  EXPECT_THAT(seen.joined, testing::ElementsAre("1"));
  ASSERT_THAT(result.cards, SizeIs(2));
  EXPECT_GT(result.cards[1].sizes, 0U);
  EXPECT_THAT(store.trials(store.runs().front().id), SizeIs(20 * 12));
}

TEST_F(CardsTest, ACardOfAnotherModelThatJoinsIsRefused) {
  joining = 1;
  devices.back().set_name("another model");
  for (ToyCard& device : devices) {
    device.on_launch = [](const std::string&) { std::this_thread::sleep_for(300us); };
  }
  const RunResult result = run({.sizes = sizes()});
  expect_every_size(result, 20);
  EXPECT_THAT(seen.joined, IsEmpty());
  EXPECT_THAT(seen.dropped["1"], HasSubstr("is another model"));
  EXPECT_THAT(result.cards, SizeIs(1));
}

TEST_F(CardsTest, ASizeIsTunedOnOneCardAndNoTrialIsRunTwice) {
  slow_down();
  const RunResult result = run({.sizes = sizes()});
  expect_every_size(result, 20);
  EXPECT_THAT(store.trials(store.runs().front().id), SizeIs(20 * 12));
  std::map<std::string, std::set<std::string>> cards;
  for (const Recorder::Step& step : seen.steps) cards[step.trial.problem].insert(step.card);
  EXPECT_THAT(cards, Each(testing::Field(&decltype(cards)::value_type::second, SizeIs(1))));
  for (const auto& [problem, uuids] : cards_of_sizes()) EXPECT_THAT(uuids, SizeIs(1)) << problem;

  ASSERT_THAT(result.cards, SizeIs(2));
  EXPECT_EQ(result.cards[0].sizes + result.cards[1].sizes, 20U);
  for (const CardResult& card : result.cards) {
    EXPECT_GT(card.sizes, 4U) << card.card.name;
    EXPECT_GT(card.measure_s, 0);
    EXPECT_THAT(card.dropped, IsEmpty());
  }
  EXPECT_EQ(seen.openings.front().cards[1].uuid, "CARD-1");
  EXPECT_EQ(seen.steps.back().progress.evaluated, 240U);
  for (const SizeResult& size : result.sizes) {
    EXPECT_EQ(cards_of_sizes()[std::to_string(size.size[0])].back(), size.card.uuid);
  }
}

TEST_F(CardsTest, EachConfigurationIsCompiledOnceForAllCards) {
  static_cast<void>(run({.sizes = sizes()}));
  EXPECT_THAT(devices[0].compiled(), SizeIs(12));
  EXPECT_THAT(devices[1].compiled(), IsEmpty()) << "one compiler serves all";
  int counted = 0;
  for (const store::StoredTrial& stored : store.trials(store.runs().front().id)) {
    counted += stored.trial.compile_ms > 0 ? 1 : 0;
  }
  EXPECT_EQ(counted, 12);
}

TEST_F(CardsTest, WhatWinsOnOneCardIsTriedEarlyOnTheOther) {
  slow_down();
  static_cast<void>(run({.sizes = sizes(), .strategy = "exhaustive"}));
  std::map<space::Size, std::vector<std::string>> tried;
  std::set<space::Size> later;
  for (const Recorder::Step& step : seen.steps) {
    std::vector<std::string>& configs = tried[step.progress.size];
    if (configs.empty() && step.finished > 0) later.insert(step.progress.size);
    configs.push_back(step.trial.config_json);
  }
  EXPECT_GE(later.size(), 8U);
  std::size_t early = 0;
  for (const space::Size& size : later) {
    const auto end = tried[size].begin() + 2;
    if (std::find(tried[size].begin(), end, kFastest) != end) ++early;
  }
  // In the order of the space it is the eighth.
  EXPECT_GE(early, later.size() - 3) << "some begin before any size near them has its winner";
}

TEST_F(CardsTest, AFaultyCardDropsOutAndItsCandidatesAreTriedElsewhere) {
  slow_down();
  devices[1].on_launch = [&, launches = 0](const std::string&) mutable {
    std::this_thread::sleep_for(20us);
    if (++launches == 500) crash_on(devices[1]);
  };
  const RunResult result = run({.sizes = sizes()});
  expect_every_size(result, 20);
  EXPECT_THAT(store.strikes(), IsEmpty()) << "the card was to blame";
  ASSERT_THAT(seen.dropped, SizeIs(1));
  EXPECT_THAT(seen.dropped["1"], HasSubstr("5 different configurations"));
  EXPECT_THAT(result.cards[1].dropped, HasSubstr("5 different configurations"));
  EXPECT_THAT(result.cards[0].dropped, IsEmpty());
  for (const SizeResult& size : result.sizes) {
    EXPECT_FALSE(size.finalists.empty());
    EXPECT_EQ(cards_of_sizes()[std::to_string(size.size[0])].back(), size.card.uuid);
  }
}

TEST_F(CardsTest, ACardThatIsFaultyBeforeAnythingCompletesDropsOut) {
  crash_on(devices[1]);
  devices[0].on_launch = [&](const std::string&) {
    // A launch here ends when the other card has no part any more.
    while (seen.drops == 0) std::this_thread::sleep_for(20us);
  };
  expect_every_size(run({.sizes = sizes()}), 20);
  EXPECT_THAT(seen.dropped["1"], HasSubstr("none completed"));
  EXPECT_THAT(store.strikes(), IsEmpty());
}

TEST_F(CardsTest, CrashesOnAllCardsAreTheKernelsFault) {
  slow_down();
  for (ToyCard& device : devices) crash_on(device);
  EXPECT_THAT(failure({.sizes = sizes()}, ErrorCode::failure), HasSubstr("common to all"));
  EXPECT_THAT(seen.dropped, SizeIs(1));
}

TEST_F(CardsTest, TheFastestOfASizeThatMovesAreTimedAgainFirst) {
  // The card that has the only size is lost on its way to the 8th configuration.
  std::atomic<std::size_t> lost_at = 2;
  for (std::size_t i = 0; i < 2; ++i) {
    devices[i].on_launch = [&, i](const std::string& entry) {
      if (devices[i].launches.size() < 8 || lost_at < 2) return;
      lost_at = i;
      throw Error(ErrorCode::no_device, entry + " was the last");
    };
  }
  const RunResult result = run({.sizes = {{10}}, .strategy = "exhaustive"});
  expect_every_size(result, 1);
  ASSERT_LT(lost_at, 2U);
  EXPECT_THAT(seen.dropped[std::to_string(lost_at)], HasSubstr("was the last"));
  const std::vector<std::string> order = seen.order();
  const std::vector<std::string> before(order.begin(), order.begin() + 7);
  ASSERT_THAT(order, SizeIs(7 + 12));
  for (std::size_t i = 7; i < 14; ++i) EXPECT_THAT(before, testing::Contains(order[i]));
  EXPECT_THAT(cards_of_sizes()["10"], SizeIs(2));
  EXPECT_EQ(result.sizes.front().card.uuid, "CARD-" + std::to_string(1 - lost_at));
}

/// Notes when the first final round begins.
class FinalWatcher : public Recorder {
 public:
  void tell(const Event& event) override {
    Recorder::tell(event);
    if (std::holds_alternative<FinalBegan>(event)) began = true;
  }
  std::atomic<bool> began = false;
};

TEST_F(CardsTest, ACardThatIsLostInAFinalRoundLosesThatRoundOnly) {
  FinalWatcher watcher;
  std::atomic<bool> lost = false;
  std::deque<worker::Evaluator> evaluators;
  std::vector<Card> cards;
  for (ToyCard& device : devices) {
    device.on_launch = [&](const std::string&) {
      if (watcher.began && !lost.exchange(true)) throw Error(ErrorCode::no_device, "lost");
    };
    evaluators.emplace_back(device, device.compiler(), family, 0);
    cards.push_back({.name = device.device().uuid,
                     .device = &evaluators.back(),
                     .compiler = &devices.front().compiler()});
  }
  const RunResult result = tune_kernel({.family = family,
                                        .kernel = family.kernels.front(),
                                        .plan = {.sizes = {{10}}},
                                        .cards = cards,
                                        .joining = {},
                                        .store = store,
                                        .observer = watcher,
                                        .interrupted = kNeverStop});
  expect_every_size(result, 1);
  EXPECT_THAT(store.trials(store.runs().front().id), SizeIs(12));
  EXPECT_THAT(watcher.dropped, SizeIs(1));
  EXPECT_THAT(watcher.finals, SizeIs(2));
}

TEST_F(CardsTest, TheLastCardThatIsLostEndsTheRun) {
  for (ToyCard& device : devices) {
    device.on_launch = [&](const std::string&) {
      throw Error(ErrorCode::no_device, device.device().uuid + " fell off the bus");
    };
  }
  EXPECT_THAT(failure({.sizes = sizes()}, ErrorCode::no_device), HasSubstr("fell off the bus"));
  EXPECT_THAT(seen.dropped, SizeIs(1));
  EXPECT_EQ(store.runs().front().state, store::RunState::interrupted);
}

TEST_F(CardsTest, WhatIsNoCardsFaultEndsTheRunOnAllOfThem) {
  slow_down();
  devices[1].on_launch = [](const std::string&) {
    throw Error(ErrorCode::failure, "the reference kernel fails");
  };
  EXPECT_THAT(failure({.sizes = sizes()}, ErrorCode::failure), HasSubstr("reference kernel"));
  EXPECT_THAT(seen.dropped, IsEmpty());
}

TEST_F(CardsTest, ACardThatOthersUseHasNoPart) {
  devices[0].now.other_processes = {4711};
  const RunResult result = run({.sizes = sizes(3)});
  expect_every_size(result, 3);
  EXPECT_THAT(seen.dropped["0"], HasSubstr("4711"));
  EXPECT_TRUE(devices[0].launches.empty());
  ASSERT_THAT(result.cards, SizeIs(2));
  EXPECT_FALSE(result.shared);

  devices[1].now.other_processes = {4712};
  EXPECT_THAT(failure({.sizes = sizes(3)}, ErrorCode::no_device), HasSubstr("4712"));
  EXPECT_THAT(store.runs(), SizeIs(1)) << "it did not begin";
}

TEST_F(CardsTest, AnInterruptedRunGoesOnWhereItWas) {
  slow_down();
  std::atomic<int> asked = 0;
  const RunResult first = run({.sizes = sizes()}, [&] { return ++asked > 300; });
  EXPECT_EQ(first.state, store::RunState::interrupted);
  const std::size_t done = store.trials(store.runs().front().id).size();
  EXPECT_GT(done, 0U);
  EXPECT_LT(done, 240U);
  seen.steps.clear();
  expect_every_size(run({.sizes = sizes()}), 20);
  EXPECT_EQ(seen.reused(), done);
  EXPECT_THAT(seen.steps, SizeIs(240));
}

class ManyCardsTest : public CardsTest {
 protected:
  ManyCardsTest() : CardsTest(12) {}
};

TEST_F(ManyCardsTest, MoreCardsThanSizes) {
  slow_down();
  const RunResult result = run({.sizes = sizes(5)});
  expect_every_size(result, 5);
  std::size_t busy = 0;
  for (const CardResult& card : result.cards) {
    EXPECT_LE(card.sizes, 1U) << "one size each";
    busy += card.sizes;
  }
  EXPECT_EQ(busy, 5U);
}

TEST_F(ManyCardsTest, CardsThatFailOneAfterTheOtherLoseNothing) {
  slow_down();
  for (std::size_t i = 1; i < devices.size(); ++i) {
    devices[i].on_launch = [i, launches = std::size_t{0}](const std::string&) mutable {
      std::this_thread::sleep_for(20us);
      if (++launches > 100 * i) throw Error(ErrorCode::no_device, "lost");
    };
  }
  expect_every_size(run({.sizes = sizes(40)}), 40);
  EXPECT_GT(seen.dropped.size(), 1U);
}

}  // namespace
}  // namespace tuner::session
