// SPDX-License-Identifier: Apache-2.0
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
unsigned atomicAnd(unsigned* at, unsigned value) {
  pause_sometimes();
  return std::atomic_ref(*at).fetch_and(value);
}
unsigned atomicInc(unsigned* at, unsigned last) {
  pause_sometimes();
  unsigned old = std::atomic_ref(*at).load();
  while (!std::atomic_ref(*at).compare_exchange_weak(old, old >= last ? 0 : old + 1)) {
  }
  return old;
}

#include "kernels/gemm/slice_claims.cuh"

#undef __device__
#undef __forceinline__
#undef TUNER_CPU_BACKEND

/// Every split at its own thread, once. Returns how often each slice was added.
std::vector<int> added(int splits, int slices, std::vector<unsigned>& words, unsigned seed) {
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(splits));
  std::vector<std::thread> threads;
  for (int split = 0; split < splits; ++split) {
    threads.emplace_back([&, split] {
      random_pauses.seed(seed * 64 + static_cast<unsigned>(split));
      const SliceClaims claims{words.data(), splits, slices};
      int orphans = 0;
      int slice = claims.claim(split, false, orphans);
      while (slice != SliceClaims::NONE) {
        const unsigned begun_before = claims.begin();
        ++times[static_cast<std::size_t>(slice)];
        claims.end(begun_before);
        slice = orphans > 0 ? claims.take_orphan(orphans) : SliceClaims::NONE;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {times.begin(), times.end()};
}

TEST(SliceClaimsTest, EachSliceIsAddedOnceHoweverTheSplitsInterleave) {
  for (const auto& [splits, slices] : {std::pair{6, 6}, std::pair{8, 5}, std::pair{3, 3}}) {
    std::vector<unsigned> words(SliceClaims::COUNTERS + 1, 0);
    for (unsigned seed = 0; seed < 2000; ++seed) {
      std::vector<int> expected(static_cast<std::size_t>(splits), 0);
      std::fill_n(expected.begin(), slices, 1);
      ASSERT_EQ(added(splits, slices, words, seed), expected) << splits << " splits, seed " << seed;
      ASSERT_EQ(words, std::vector<unsigned>(words.size(), 0)) << "zero for the next launch";
    }
  }
}

}  // namespace
}  // namespace tuner::kernels
