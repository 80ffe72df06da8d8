// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/worker_pool.hpp"

#include <chrono>

namespace tuner::backend {
namespace {

/// Longer than the host takes from one launch of a series to the next.
constexpr auto kLoop = std::chrono::microseconds(50);

/// Returns when the number is another one.
template <class Number>
void await_change(const std::atomic<Number>& number, Number from) {
  const auto end = std::chrono::steady_clock::now() + kLoop;
  do {
    if (number.load(std::memory_order_acquire) != from) return;
    std::this_thread::yield();  // the awaited thread may share this core
  } while (std::chrono::steady_clock::now() < end);
  number.wait(from, std::memory_order_acquire);
}

}  // namespace

struct WorkerPool::State {
  static constexpr std::uint64_t kActive = 1;                      // of 15 bits
  static constexpr std::uint64_t kBegun = std::uint64_t{1} << 15;  // of 16 bits
  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;

  static std::uint64_t open(std::uint32_t job) { return std::uint64_t{job} << 32 | kOpen; }
  static bool is_open(std::uint64_t state, std::uint32_t job) {
    return state >> 31 == open(job) >> 31;
  }
  static std::uint64_t begun(std::uint64_t state) { return state / kBegun % (kOpen / kBegun); }
  static std::uint64_t active(std::uint64_t state) { return state % kBegun; }
};

WorkerPool::WorkerPool(unsigned workers) : signals_(std::make_unique<Signal[]>(workers)) {
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

WorkerPool::~WorkerPool() {
  begin(size(), nullptr);
}

void WorkerPool::run(unsigned workers, const Job& job) {
  begin(workers, &job);
  await_all(workers);
}

void WorkerPool::run_everywhere(const Job& job) {
  begin(size(), &job);
  job(size());
  await_all(size());
}

void WorkerPool::share(unsigned workers, const Job& job) {
  begin(workers, &job);
  job(size());
  await_begun();
}

void WorkerPool::begin(unsigned workers, const Job* job) {
  job_ = job;
  state_.store(State::open(++number_), std::memory_order_release);
  for (unsigned worker = 0; worker < workers; ++worker) {
    signals_[worker].job.store(number_, std::memory_order_release);
    signals_[worker].job.notify_one();
  }
}

void WorkerPool::await_all(unsigned workers) {
  for (;;) {
    const std::uint64_t state = state_.load(std::memory_order_acquire);
    if (State::begun(state) == workers && State::active(state) == 0) return;
    await_change(state_, state);
  }
}

void WorkerPool::await_begun() {
  std::uint64_t state = state_.fetch_and(~State::kOpen, std::memory_order_acq_rel) & ~State::kOpen;
  while (State::active(state) != 0) {
    await_change(state_, state);
    state = state_.load(std::memory_order_acquire);
  }
}

void WorkerPool::serve(unsigned worker) {
  const std::atomic<std::uint32_t>& asked = signals_[worker].job;
  for (std::uint32_t seen = 0;;) {
    await_change(asked, seen);
    seen = asked.load(std::memory_order_acquire);
    std::uint64_t state = state_.load(std::memory_order_acquire);
    bool begins = false;
    while (!begins && State::is_open(state, seen)) {
      begins = state_.compare_exchange_weak(state, state + State::kBegun + State::kActive,
                                            std::memory_order_acq_rel, std::memory_order_acquire);
    }
    if (!begins) continue;  // too late
    if (job_ == nullptr) return;
    (*job_)(worker);
    state_.fetch_sub(State::kActive, std::memory_order_acq_rel);
    state_.notify_one();
  }
}

}  // namespace tuner::backend
