// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/worker_pool.hpp"

#include <chrono>

namespace tuner::backend {
namespace {

/// Longer than the host takes from one launch of a series to the next.
constexpr auto kLoop = std::chrono::microseconds(50);

/// Returns when the number is another one.
void await_change(const std::atomic<std::uint32_t>& number, std::uint32_t from) {
  const auto end = std::chrono::steady_clock::now() + kLoop;
  do {
    if (number.load(std::memory_order_acquire) != from) return;
    std::this_thread::yield();  // the awaited thread may share this core
  } while (std::chrono::steady_clock::now() < end);
  number.wait(from, std::memory_order_acquire);
}

}  // namespace

WorkerPool::WorkerPool(unsigned workers) : signals_(std::make_unique<Signal[]>(workers)) {
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

WorkerPool::~WorkerPool() {
  job_ = nullptr;
  for (unsigned worker = 0; worker < size(); ++worker) {
    signals_[worker].round.fetch_add(1, std::memory_order_release);
    signals_[worker].round.notify_one();
  }
}

void WorkerPool::run(const std::function<void(unsigned)>& job) {
  begin(size(), job);
  await_end();
}

void WorkerPool::run_here_too(unsigned workers, const std::function<void(unsigned)>& job) {
  begin(workers, job);
  job(size());
  await_end();
}

void WorkerPool::begin(unsigned workers, const std::function<void(unsigned)>& job) {
  job_ = &job;
  busy_.store(workers, std::memory_order_relaxed);
  for (unsigned worker = 0; worker < workers; ++worker) {
    signals_[worker].round.fetch_add(1, std::memory_order_release);
    signals_[worker].round.notify_one();
  }
}

void WorkerPool::await_end() {
  for (std::uint32_t busy = 0; (busy = busy_.load(std::memory_order_acquire)) != 0;) {
    await_change(busy_, busy);
  }
}

void WorkerPool::serve(unsigned worker) {
  const std::atomic<std::uint32_t>& round = signals_[worker].round;
  for (std::uint32_t seen = 0;;) {
    await_change(round, seen);
    seen = round.load(std::memory_order_acquire);
    if (job_ == nullptr) return;
    (*job_)(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

}  // namespace tuner::backend
