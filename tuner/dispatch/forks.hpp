// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace tuner::dispatch {

/// Tells a process from those that it was forked from: threads, locks that others hold, and a GPU's
/// context do not come along. Asking the system for the process's number would cost a launch more
/// than all the rest.
class Forks {
 public:
  /// How many forks lie between this process and the one in which this was called first.
  [[nodiscard]] static std::uint32_t count();
  /// As count(), where that was called before.
  [[nodiscard]] static std::uint32_t known_count() {
    return count_.load(std::memory_order_relaxed);
  }

 private:
  static std::atomic<std::uint32_t> count_;
};

}  // namespace tuner::dispatch
