// SPDX-License-Identifier: Apache-2.0
#include "tests/support/part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

// What the header takes of CUDA, on the host. Other threads run between any two operations.
#define __device__
#define __forceinline__
#define TUNER_CPU_BACKEND

namespace tuner::kernels {
namespace {

thread_local std::mt19937 random_pauses;

void pause_sometimes() {
  if (random_pauses() % 4 == 0) std::this_thread::yield();
}

unsigned atomicAdd(unsigned* at, unsigned value) {
  pause_sometimes();
  return std::atomic_ref(*at).fetch_add(value);
}
unsigned atomicOr(unsigned* at, unsigned value) {
  pause_sometimes();
  return std::atomic_ref(*at).fetch_or(value);
}
void __threadfence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
int __ffs(int value) {
  return __builtin_ffs(value);
}

#include "kernels/gemm/split_progress.cuh"

#undef __device__
#undef __forceinline__
#undef TUNER_CPU_BACKEND

/// Every split at its own thread, once; each waits or not as it happens. Returns how often each
/// slice was added, where the last split added those that were left.
std::vector<int> added(int splits, int slices, std::vector<unsigned>& words, unsigned seed) {
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(splits));
  std::vector<std::thread> threads;
  for (int split = 0; split < splits; ++split) {
    threads.emplace_back([&, split] {
      random_pauses.seed(seed * 64 + static_cast<unsigned>(split));
      const SplitProgress progress{words.data(), splits, slices};
      progress.begin();
      int left = SplitProgress::NONE;
      if (split < slices && random_pauses() % 2 == 0) {
        ++times[static_cast<std::size_t>(split)];
      } else if (split < slices) {
        left = split;
      }
      const unsigned arrived = progress.arrive(left);
      if (!progress.is_last(arrived) || !progress.are_left(arrived)) return;
      for (int slice = progress.take_left(); slice != SplitProgress::NONE;
           slice = progress.take_left()) {
        ++times[static_cast<std::size_t>(slice)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {times.begin(), times.end()};
}

TEST(SplitProgressTest, EachSliceIsAddedOnceHoweverTheSplitsInterleave) {
  for (const auto& [splits, slices] : {std::pair{6, 6}, std::pair{8, 5}, std::pair{40, 36}}) {
    std::vector<unsigned> words(SplitProgress::COUNTERS + 2, 0);
    const unsigned all = splits < 10 ? 2000 : 200;
    const unsigned seeds = testing_support::takes_all() ? all : all / 4;
    for (unsigned seed = 0; seed < seeds; ++seed) {
      std::vector<int> expected(static_cast<std::size_t>(splits), 0);
      std::fill_n(expected.begin(), slices, 1);
      ASSERT_EQ(added(splits, slices, words, seed), expected) << splits << " splits, seed " << seed;
      ASSERT_EQ(words, std::vector<unsigned>(words.size(), 0)) << "zero for the next launch";
    }
  }
}

TEST(SplitProgressTest, ASplitWaitsOnlyWhereAllHaveBegun) {
  std::vector<unsigned> words(SplitProgress::COUNTERS + 1, 0);
  const SplitProgress progress{words.data(), 3, 3};
  EXPECT_FALSE(progress.may_wait(2));
  EXPECT_TRUE(progress.may_wait(3));
}

}  // namespace
}  // namespace tuner::kernels
