// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace tuner::backend {

/// A fixed number of OS threads that wait for work. Used from one thread at a time.
class WorkerPool {
 public:
  explicit WorkerPool(unsigned workers);

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  /// Every worker calls `job` once with its number; returns when all have. The job must not throw.
  void run(const std::function<void(unsigned worker)>& job);

 private:
  void serve(const std::stop_token& stop, unsigned worker);

  std::mutex mutex_;
  std::condition_variable_any begin_;
  std::condition_variable end_;
  const std::function<void(unsigned)>* job_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned busy_ = 0;
  std::vector<std::jthread> threads_;  // last: they stop before what they use goes
};

}  // namespace tuner::backend
