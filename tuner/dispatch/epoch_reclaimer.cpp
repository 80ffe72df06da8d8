// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/epoch_reclaimer.hpp"

#include <thread>

namespace tuner::dispatch {

namespace {

// Of the process, as its threads are.
std::array<std::atomic<bool>, ThreadPlace::kOwnPlaces> taken_places;

}  // namespace

constinit thread_local std::size_t ThreadPlace::number_ = ThreadPlace::kUnclaimed;

/// Gives a thread's place back when it ends. What the thread launches after that shares the last.
struct ClaimedPlace {
  ClaimedPlace() {
    for (std::size_t i = 0; i < taken_places.size(); ++i) {
      if (taken_places[i].exchange(true, std::memory_order_acquire)) continue;
      ThreadPlace::number_ = i;
      return;
    }
    ThreadPlace::number_ = ThreadPlace::kOwnPlaces;
  }
  ~ClaimedPlace() {
    const std::size_t place = ThreadPlace::number_;
    ThreadPlace::number_ = ThreadPlace::kOwnPlaces;
    if (place < taken_places.size()) taken_places[place].store(false, std::memory_order_release);
  }
};

std::size_t ThreadPlace::claim() {
  static thread_local const ClaimedPlace place;
  return number_;
}

void EpochReclaimer::wait() {
  const std::scoped_lock lock(mutex_);
  // Twice: a reader that chose its side before a change of sides may count itself in long after.
  for (int change = 0; change < 2; ++change) {
    const std::size_t old = side_.load(std::memory_order_relaxed);
    side_.store(1 - old, std::memory_order_seq_cst);
    wait_for(old);
  }
}

void EpochReclaimer::wait_for(std::size_t side) {
  for (Stripe& stripe : stripes_) {
    while (stripe.readers[side].load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  }
}

}  // namespace tuner::dispatch
