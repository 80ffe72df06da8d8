// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tuner {

/// Tells when what many threads may be reading can be freed: "sleepable read-copy-update"
/// (McKenney 2006). A reader pays two uncontended atomic additions and never waits.
class ReadSections {
 public:
  /// While it lives, what its thread reads after it began is not freed.
  class Section {
   public:
    explicit Section(std::atomic<std::int64_t>& readers) : readers_(readers) {}
    ~Section() { readers_.fetch_sub(1, std::memory_order_release); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    std::atomic<std::int64_t>& readers_;
  };

  [[nodiscard]] Section enter();

  /// Returns when every section that was open at the call has ended. Not to be called in one.
  void wait();

 private:
  // A cache line for each processor, so that readers on different ones do not share any.
  struct alignas(64) Stripe {
    std::array<std::atomic<std::int64_t>, 2> readers{};
  };
  void wait_for(std::size_t side);

  std::atomic<std::size_t> side_ = 0;  // which of a stripe's counters new sections use
  std::array<Stripe, 256> stripes_;
  std::mutex mutex_;  // of those who wait
};

}  // namespace tuner
