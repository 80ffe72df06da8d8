// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/compile_pool.hpp"

#include "tuner/core/failpoint.hpp"

#include <chrono>

namespace tuner::worker {
namespace {

/// A cubin is some 10 to 50 kB: at most about 100 MB are kept.
constexpr std::size_t kMostKept = 2048;

}  // namespace

CompilePool::CompilePool(const backend::Compiler& compiler, int threads) : compiler_(compiler) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

CompilePool::~CompilePool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();  // joins
}

std::shared_future<Compiled> CompilePool::submit(family::CompileJob job) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = kept_.find(job.key); known != kept_.end()) {
    recency_.splice(recency_.begin(), recency_, known->second.recency);
    return known->second.result;
  }
  const std::string key = job.key;
  Task& task = tasks_.emplace_back(Task{.job = std::move(job), .promise = {}});
  recency_.push_front(key);
  std::shared_future<Compiled> result = task.promise.get_future().share();
  kept_.emplace(key, Kept{.result = result, .recency = recency_.begin()});
  if (kept_.size() > kMostKept) {
    kept_.erase(recency_.back());
    recency_.pop_back();
  }
  failpoint("worker.compile_submitted");
  wake_.notify_one();
  return result;
}

bool CompilePool::count_once(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  return counted_.insert(key).second;
}

void CompilePool::work(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !tasks_.empty(); }) || stop.stop_requested())
      return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    failpoint("worker.compile_taken");
    try {
      const auto start = std::chrono::steady_clock::now();
      auto binary = compiler_.compile(task.job);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      failpoint("worker.compile_ended");
      task.promise.set_value({.binary = std::move(binary), .compile_ms = took.count()});
    } catch (...) {
      task.promise.set_exception(std::current_exception());
    }
  }
}

}  // namespace tuner::worker
