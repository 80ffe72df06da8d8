// SPDX-License-Identifier: Apache-2.0
// What every thread does millions of times, and what many do at once.
#include "tests/dispatch/allocations.hpp"
#include "tests/dispatch/engine_fixture.hpp"
#include "tests/dispatch/weighted_family.hpp"
#include "tuner/core/number_map.hpp"

#include <atomic>
#include <thread>

namespace tuner::dispatch {
namespace {

/// How many of `rounds` rounds in each of 32 threads at once end with an exception.
template <class Work>
int failures_in_32_threads(int rounds, const Work& work) {
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 32; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < rounds; ++round) {
        try {
          work(thread, round);
        } catch (const std::exception&) {
          ++failures;
        }
      }
    });
  }
  threads.clear();
  return failures;
}

TEST_F(EngineTest, APreparedLaunchAllocatesNothing) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  database.add({.size = "64,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
  database.add({.size = "9,16,4", .ratio_to_library = 0.5});
  open();
  const Size rows = {8, 16, 4};
  const Size split = {64, 16, 4};
  const Size library = {9, 16, 4};
  const auto all = [&] {
    launch(rows);
    launch(rows, nullptr, data + 1);
    launch(split, stream_number(3));
    launch(library);
  };
  all();
  const int before = allocations();
  all();
  EXPECT_EQ(allocations(), before);
}

TEST_F(EngineTest, APreparedLaunchWithAnArrayAllocatesNothing) {
  database.add({.size = "8,16,4"});
  database.add(weighted("8,4"));
  open();
  const FamilyId weights = engine->family("weighted");
  const Size size = {8, 4};
  std::array<float, 4> w = {3, 1, 4, 1};
  const auto launch_weighted = [&] {
    const std::array<DispatchArgument, 3> arguments = {data, DispatchArgument::array(w.data()),
                                                       data};
    engine->launch(weights, size, arguments, nullptr);
  };
  launch_weighted();
  w[0] = 5;
  const int before = allocations();
  launch_weighted();
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(device->last.entry, "weigh<2,4>");
  std::array<float, 2> passed{};
  std::memcpy(passed.data(), &device->last.values[2], sizeof passed);
  EXPECT_THAT(passed, testing::ElementsAre(5, 1)) << "its first elements";
}

TEST_F(EngineTest, ThirtyTwoThreadsLookUpPrepareAndReload) {
  for (int m = 8; m <= 64; m += 8) {
    database.add({.size = std::to_string(m) + ",16,4", .config = R"({"TILE":8})"});
  }
  open();
  EXPECT_EQ(failures_in_32_threads(
                20,
                [&](int thread, int round) {
                  const std::int64_t m = 8 * (1 + (thread + round) % 9);
                  if (thread % 16 == 0 && round % 5 == 0)
                    engine->reload(Table::database(database.path()));
                  if (thread % 4 == 1) engine->prepare(family, std::vector<Size>{{m, 16, 4}});
                  if (thread % 4 == 2) static_cast<void>(engine->answer(family, Size{m, 16, 4}));
                  launch({m, 16, 4}, stream_number(static_cast<std::uintptr_t>(thread)));
                }),
            0);
  EXPECT_EQ(device->launches, 32 * 20);
  EXPECT_EQ(device->compilations, 1) << "one kernel serves all sizes";
}

TEST_F(EngineTest, ThirtyTwoThreadsLaunchWhileSizesAndScratchMemoryChangeHands) {
  database.add({.size = "8,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
  open();
  constexpr int kRounds = 160;  // 1,280 sizes
  EXPECT_EQ(failures_in_32_threads(
                kRounds,
                [&](int thread, int round) {
                  const std::int64_t m = 8 + (thread / 4 * kRounds + round) % 3000;
                  launch({m, 256, 4}, stream_number(static_cast<std::uintptr_t>(thread % 4)));
                }),
            0);
  EXPECT_EQ(device->launches, 32 * kRounds);
}

TEST_F(EngineTest, ThirtyTwoThreadsLaunchWhileSizesAreMeasured) {
  database.add({.size = "8,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
  database.add({.size = "8,16,4", .config = R"({"TILE":8})"});
  open();
  device->time_ns = {{"split<4>", 100}};
  EXPECT_EQ(failures_in_32_threads(
                11,
                [&](int thread, int round) {
                  const std::int64_t m = 16 + 8 * round;
                  if (thread % 2 == 0)
                    engine->prepare(family, {{{m, 16, 4}}}, ChooseBy::measurement);
                  launch({m, 16, 4}, stream_number(static_cast<std::uintptr_t>(thread)));
                }),
            0);
  const Answer answer = engine->answer(family, Size{96, 16, 4});
  EXPECT_TRUE(answer.prepared);
  EXPECT_GT(answer.expected_ns.value(), 0);
}

TEST(NumberMap, FindsWhatWasPutWhileItGrows) {
  NumberMap<std::int64_t> map;
  std::vector<std::int64_t> values(5000);
  std::jthread writer([&] {
    for (std::int64_t i = 0; i < 5000; ++i) {
      values[static_cast<std::size_t>(i)] = i;
      map.put(std::array{i % 7, i, -i}, &values[static_cast<std::size_t>(i)]);
    }
  });
  for (std::int64_t i = 0; i < 5000; ++i) {
    const std::array key = {i % 7, i, -i};
    const std::int64_t* found = nullptr;
    while ((found = map.find(key)) == nullptr) std::this_thread::yield();
    ASSERT_EQ(*found, i);
  }
  EXPECT_EQ(map.find(std::array<std::int64_t, 2>{0, 0}), nullptr);
  map.put(std::array<std::int64_t, 3>{0, 0, 0}, &values[9]);
  EXPECT_EQ(*map.find(std::array<std::int64_t, 3>{0, 0, 0}), 9);
}

}  // namespace
}  // namespace tuner::dispatch
