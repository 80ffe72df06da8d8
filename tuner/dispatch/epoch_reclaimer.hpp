// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tuner::dispatch {

/// The number of the calling thread among those that live; those beyond kOwnPlaces share the last.
class ThreadPlace {
 public:
  static constexpr std::size_t kOwnPlaces = 255;

  [[nodiscard]] static std::size_t number() {
    const std::size_t known = number_;
    return known <= kOwnPlaces ? known : claim();
  }

 private:
  friend struct ClaimedPlace;
  static constexpr std::size_t kUnclaimed = kOwnPlaces + 1;
  static std::size_t claim();

  static constinit thread_local std::size_t number_;
};

/// Tells when what many threads may be reading can be freed: "sleepable read-copy-update"
/// (McKenney 2006). A reader pays one atomic exchange on memory that no other thread writes, and
/// never waits.
class EpochReclaimer {
 public:
  /// While it lives, what its thread reads after it began is not freed.
  class Section {
   public:
    Section(std::atomic<std::int64_t>& readers, std::size_t place)
        : readers_(readers), is_shared_(place == ThreadPlace::kOwnPlaces) {
      // Before the reads of the section: either wait() sees this section, or the section sees the
      // new objects.
      if (is_shared_) {
        readers_.fetch_add(1, std::memory_order_seq_cst);
      } else {
        readers_.exchange(readers_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
      }
    }
    ~Section() {
      if (is_shared_) {
        readers_.fetch_sub(1, std::memory_order_release);
      } else {
        readers_.store(readers_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
      }
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    std::atomic<std::int64_t>& readers_;
    bool is_shared_;
  };

  [[nodiscard]] Section enter() {
    const std::size_t place = ThreadPlace::number();
    return {stripes_[place].readers[side_.load(std::memory_order_relaxed)], place};
  }

  /// Returns when every section that was open at the call has ended. Not to be called in one.
  void wait();

 private:
  // Two cache lines for each thread: processors fetch them in pairs.
  struct alignas(128) Stripe {
    std::array<std::atomic<std::int64_t>, 2> readers{};
  };
  void wait_for(std::size_t side);

  std::atomic<std::size_t> side_ = 0;  // which of a stripe's counters new sections use
  std::array<Stripe, ThreadPlace::kOwnPlaces + 1> stripes_;
  std::mutex mutex_;  // of those who wait
};

}  // namespace tuner::dispatch
