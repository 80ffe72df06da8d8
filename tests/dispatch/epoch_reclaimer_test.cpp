// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/epoch_reclaimer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tuner::dispatch {
namespace {

TEST(EpochReclaimer, FreesNothingThatAReaderHolds) {
  constexpr int kReaders = 4;
  EpochReclaimer sections;
  std::vector<std::unique_ptr<std::atomic<int>>> retired;  // marked where they would be freed
  auto owner = std::make_unique<std::atomic<int>>(0);
  std::atomic<std::atomic<int>*> current = owner.get();
  std::atomic<bool> over = false;
  std::atomic<int> freed = 0;
  std::vector<std::jthread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      while (!over) {
        const auto section = sections.enter();
        const std::atomic<int>* const held = current.load();
        for (int look = 0; look < 20; ++look) {
          std::this_thread::yield();
          if (held->load() < 0) ++freed;
        }
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    auto next = std::make_unique<std::atomic<int>>(i);
    current = next.get();
    sections.wait();
    owner->store(-1);
    retired.push_back(std::exchange(owner, std::move(next)));
  }
  over = true;
  readers.clear();
  EXPECT_EQ(freed, 0);
}

TEST(ThreadPlace, IsOneThreadsAloneAndGivenBack) {
  constexpr std::size_t kMore = 20;
  std::vector<std::size_t> places(ThreadPlace::kOwnPlaces + kMore);
  {
    std::latch all(static_cast<std::ptrdiff_t>(places.size()));
    std::vector<std::jthread> threads;
    for (std::size_t& place : places) {
      threads.emplace_back([&] {
        place = ThreadPlace::number();
        all.arrive_and_wait();
      });
    }
  }
  std::erase(places, ThreadPlace::kOwnPlaces);
  EXPECT_EQ(std::set(places.begin(), places.end()).size(), places.size());
  EXPECT_GE(places.size(), ThreadPlace::kOwnPlaces - 1) << "this thread may have one";
  std::size_t later = ThreadPlace::kOwnPlaces;
  std::jthread([&] { later = ThreadPlace::number(); }).join();
  EXPECT_LT(later, ThreadPlace::kOwnPlaces);
}

}  // namespace
}  // namespace tuner::dispatch
