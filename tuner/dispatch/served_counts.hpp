// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/epoch_reclaimer.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace tuner::dispatch {

/// Whether something was measured at the very size, of which the library may have been the best.
enum class SizeKnowledge { tuned, untuned };

/// Sizes and launches of one kind. Threads count in memory of their own, some share it.
class ServedCounter {
 public:
  void add_size() { sizes_.fetch_add(1, std::memory_order_relaxed); }
  void add_launch() {
    launches_[ThreadPlace::number() % kShards].count.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sizes() const { return sizes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t launches() const;

 private:
  static constexpr std::size_t kShards = 16;
  struct alignas(128) Shard {
    std::atomic<std::uint64_t> count = 0;
  };
  std::atomic<std::uint64_t> sizes_ = 0;
  std::array<Shard, kShards> launches_;
};

/// What was served by what. Safe to use from many threads.
class ServedCounts {
 public:
  /// Where launches of a family by a rung are counted, for as long as this lives.
  [[nodiscard]] ServedCounter& of(const std::string& family, Rung rung, SizeKnowledge knowledge);
  /// By family and rung; what was never launched is left out.
  [[nodiscard]] std::vector<Served> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, Rung, SizeKnowledge>, std::unique_ptr<ServedCounter>> counters_;
};

}  // namespace tuner::dispatch
