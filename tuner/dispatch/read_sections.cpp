// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/read_sections.hpp"

#include <sched.h>
#include <thread>

namespace tuner {

ReadSections::Section ReadSections::enter() {
  // Any stripe would be right: the thread's own processor's is the fastest.
  const int processor = ::sched_getcpu();
  Stripe& stripe =
      stripes_[static_cast<std::size_t>(processor < 0 ? 0 : processor) % stripes_.size()];
  auto& readers = stripe.readers[side_.load(std::memory_order_relaxed)];
  // Before anything that the section reads: whoever waits sees it, or it sees what is new.
  readers.fetch_add(1, std::memory_order_seq_cst);
  return Section(readers);
}

void ReadSections::wait() {
  const std::scoped_lock lock(mutex_);
  // Twice: a reader that chose its side before a change of sides may count itself in long after.
  for (int change = 0; change < 2; ++change) {
    const std::size_t old = side_.load(std::memory_order_relaxed);
    side_.store(1 - old, std::memory_order_seq_cst);
    wait_for(old);
  }
}

void ReadSections::wait_for(std::size_t side) {
  for (Stripe& stripe : stripes_) {
    while (stripe.readers[side].load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  }
}

}  // namespace tuner
