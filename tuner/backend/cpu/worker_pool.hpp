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
/// next one begins without a system call, then asleep. Used from one thread at a time. Jobs must
/// not throw.
class WorkerPool {
 public:
  using Job = std::function<void(unsigned worker)>;

  explicit WorkerPool(unsigned workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  /// The first `workers` workers call `job` once with their number; returns when all have.
  void run(unsigned workers, const Job& job);
  /// All workers call `job` once with their number, and the calling thread, whose number is
  /// `size()`.
  void run_everywhere(const Job& job);
  /// The calling thread calls `job`, and so do those of the first `workers` workers that begin
  /// before it returns there. One that other processes keep from its core is not awaited.
  void share(unsigned workers, const Job& job);

 private:
  /// What one worker waits on, in a cache line of its own: the number of the last job that it was
  /// asked to call.
  struct alignas(64) Signal {
    std::atomic<std::uint32_t> job = 0;
  };
  /// The current job in one word: its number, whether it may be begun, how many workers have begun
  /// it, and how many of them have not returned.
  struct State;

  void serve(unsigned worker);
  void begin(unsigned workers, const Job* job);
  void await_all(unsigned workers);
  void await_begun();

  std::unique_ptr<Signal[]> signals_;
  const Job* job_ = nullptr;  // null: end
  std::uint32_t number_ = 0;
  alignas(64) std::atomic<std::uint64_t> state_ = 0;
  std::vector<std::jthread> threads_;  // last: they stop before what they use goes
};

}  // namespace tuner::backend
