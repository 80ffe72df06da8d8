// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tuner::backend {

/// A fixed number of OS threads that wait for work: for a moment after a job in a loop, so that the
/// next one begins without a system call, then asleep. Used from one thread at a time.
class WorkerPool {
 public:
  explicit WorkerPool(unsigned workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  /// Every worker calls `job` once with its number; returns when all have. The job must not throw.
  void run(const std::function<void(unsigned worker)>& job);
  /// The same on `workers` workers and the calling thread, whose number is `size()`.
  void run_here_too(unsigned workers, const std::function<void(unsigned worker)>& job);

 private:
  /// What one worker waits on, in a cache line of its own.
  struct alignas(64) Signal {
    std::atomic<std::uint32_t> round = 0;
  };

  void serve(unsigned worker);
  void begin(unsigned workers, const std::function<void(unsigned)>& job);
  void await_end();

  std::unique_ptr<Signal[]> signals_;
  const std::function<void(unsigned)>* job_ = nullptr;  // null: end
  alignas(64) std::atomic<std::uint32_t> busy_ = 0;
  std::vector<std::jthread> threads_;  // last: they stop before what they use goes
};

}  // namespace tuner::backend
