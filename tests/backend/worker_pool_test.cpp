// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/worker_pool.hpp"

#include "tuner/backend/cpu/grid_runner.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace tuner::backend {
namespace {

using testing::Each;
using testing::ElementsAre;

/// How often each worker, and behind them the calling thread, has called a job.
class Calls {
 public:
  explicit Calls(const WorkerPool& pool) : calls_(pool.size() + 1) {}

  WorkerPool::Job job() {
    return [this](unsigned worker) { calls_[worker].fetch_add(1, std::memory_order_relaxed); };
  }
  std::vector<int> counts() const { return {calls_.begin(), calls_.end()}; }

 private:
  std::vector<std::atomic<int>> calls_;
};

TEST(WorkerPool, CallsAJobOnceOnEachWorkerThatIsAsked) {
  WorkerPool pool(3);
  Calls calls(pool);
  pool.run(2, calls.job());
  EXPECT_THAT(calls.counts(), ElementsAre(1, 1, 0, 0));
  pool.run_everywhere(calls.job());
  EXPECT_THAT(calls.counts(), ElementsAre(2, 2, 1, 1));
  pool.share(0, calls.job());
  EXPECT_THAT(calls.counts(), ElementsAre(2, 2, 1, 2));
}

TEST(WorkerPool, AwaitsOfASharedJobThoseWhoBegan) {
  WorkerPool pool(2);
  std::atomic<int> begun = 0, ended = 0;
  pool.share(2, [&](unsigned worker) {
    ++begun;
    if (worker == pool.size()) {
      while (begun < 2) std::this_thread::yield();  // one has joined
    } else {
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    }
    ++ended;
  });
  EXPECT_GE(ended, 2);
  EXPECT_EQ(ended, begun);
}

TEST(WorkerPool, CallsASharedJobAtMostOnceAndTheNextForAllWhetherItWasLateOrNot) {
  WorkerPool pool(1);
  for (int i = 0; i < 1000; ++i) {
    std::array<int, 2> shared{};
    pool.share(1, [&](unsigned worker) { ++shared[worker]; });
    EXPECT_EQ(shared[1], 1);
    EXPECT_LE(shared[0], 1);
    std::array<int, 2> next{};
    pool.run(1, [&](unsigned worker) { ++next[worker]; });
    EXPECT_THAT(next, ElementsAre(1, 0));
  }
}

// More workers than cores: most are late.
TEST(WorkerPool, DoesAllWorkInJobsOfEveryKindOneAfterTheOther) {
  WorkerPool pool(16);
  constexpr int kWork = 20;
  for (unsigned round = 0; round < 3000; ++round) {
    std::atomic<int> next = 0, done = 0;
    const auto work = [&](unsigned) {
      while (next.fetch_add(1) < kWork) ++done;
    };
    if (round % 3 == 0) {
      pool.run(1 + round % 16, work);
    } else {
      pool.share(round % 17, work);
    }
    ASSERT_EQ(done, kWork) << round;
    if (round % 100 != 0) continue;
    Calls calls(pool);
    pool.run_everywhere(calls.job());
    ASSERT_THAT(calls.counts(), Each(1)) << round;
  }
}

/// Which threads ran the blocks of a grid.
class Threads {
 public:
  std::vector<std::thread::id> of_grid(GridRunner& grids, unsigned blocks) {
    ids_.assign(blocks, {});
    void* ids = &ids_;
    const std::array<void*, 1> arguments = {ids};
    KernelCall call;
    call.entry = [](KernelContext& context, void* const* passed) {
      auto& all = *static_cast<std::vector<std::thread::id>*>(passed[0]);
      all[context.block.x] = std::this_thread::get_id();
    };
    call.arguments = arguments.data();
    call.geometry = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}};
    EXPECT_TRUE(grids.run(call));
    return ids_;
  }

 private:
  std::vector<std::thread::id> ids_;
};

TEST(GridRunner, ASingleBlockRunsOnTheThreadThatMadeIt) {
  GridRunner grids(2, 64);
  EXPECT_THAT(Threads().of_grid(grids, 1), ElementsAre(std::this_thread::get_id()));
}

TEST(GridRunner, OnAnotherThreadItsWorkersRunAllBlocks) {
  GridRunner grids(2, 64);
  const auto owner = std::this_thread::get_id();
  std::jthread([&] {
    const std::vector<std::thread::id> ids = Threads().of_grid(grids, 50);
    EXPECT_EQ(std::ranges::count(ids, owner), 0);
    EXPECT_EQ(std::ranges::count(ids, std::this_thread::get_id()), 0);
    EXPECT_EQ(std::ranges::count(ids, std::thread::id()), 0);
  }).join();
}

}  // namespace
}  // namespace tuner::backend
